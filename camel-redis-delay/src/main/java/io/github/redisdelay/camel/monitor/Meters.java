// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.option.OwnModule;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Timers;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;
import org.slf4j.LoggerFactory;

/**
 * The meters of a component: each queue, consumer and client has its own for as long as it is used. Thread-safe.
 */
public interface Meters {

    /** The bean under which Camel keeps the registry of meters. */
    String REGISTRY_NAME = "metricsRegistry";

    String ARTIFACT = "camel-redis-delay-micrometer";

    /** No meters: what there is where no registry is bound, or the module is missing. */
    Meters NONE = new Meters() {};

    /**
     * A queue that is used.
     *
     * @param place which Redis it is in, and which database of it
     * @param queue the queue itself, not that of its dead letters
     * @param client the one that the queue is of
     */
    record MeteredQueue(String keyPrefix, String place, DelayQueue queue, Reference<OpenClient> client) {}

    /** The events of messages. Each has a counter. A new one is a constant here, and its call of {@link Use#count}. */
    enum Event {
        SCHEDULED,
        CANCELLED,
        PROMOTED,
        DELIVERED,
        RETRIED,
        DEAD_LETTERED,
        DROPPED,
        EXPIRED
    }

    /** Meters of one user, which gives them back when it stops; the last user's are removed. */
    interface Use {
        Use NONE = new Use() {};

        default void count(Event event, long messages) {}

        default void release() {}
    }

    /** The meters of those who receive from a queue. */
    interface Consuming extends Use {

        Consuming NONE = new Consuming() {};

        /** The time by a monotonic clock, from which the other methods count. */
        default long nanoTime() {
            return 0;
        }

        /** A message is handed to a route, or to a caller that polls. */
        default void delivered(Delivery delivery) {}

        /** Its exchange has completed. */
        default void processed(long deliveredNanoTime) {}

        /** Redis has carried out the end of a delivery. */
        default void acknowledged(long completedNanoTime) {}
    }

    /** The meters that another module adds to those of a queue. */
    interface Added extends Use {

        Added NONE = new Added() {};

        /** A counter, by what adds to it. */
        default LongConsumer counting(String name, String description) {
            return more -> {};
        }

        /** A gauge, by what sets it. */
        default LongConsumer showing(String name, String description, String tag, String value) {
            return now -> {};
        }
    }

    /** The meters of those who send to a queue. */
    default Use producing(MeteredQueue queue) {
        return Use.NONE;
    }

    /**
     * @param routeId or the name of a consumer without a route; empty for those that poll
     * @param deadLetters whether the dead letters of the queue are consumed
     */
    default Consuming consuming(MeteredQueue queue, String routeId, boolean deadLetters) {
        return Consuming.NONE;
    }

    /** @param tags what tells them apart from others of the queue */
    default Added added(MeteredQueue queue, Map<String, String> tags) {
        return Added.NONE;
    }

    /** A listener that measures the calls of a client; null for none. */
    default CallListener calls(String place, String keyPrefix) {
        return null;
    }

    /** Removes all meters, also those that a user has not given back. No user comes any more. */
    default void close() {}

    /** The module {@code camel-redis-delay-micrometer}. */
    interface Module {

        /** @param registry a {@code MeterRegistry} of Micrometer */
        Meters meters(Object registry, String context, String component, Timers timers);
    }

    /**
     * The meters in the registry of Micrometer that is bound in a context: by the name that Camel's own meters use, or the only
     * one of its type. Without a registry or the module there are none.
     *
     * @param component the name of the component, which tells its meters from those of other components of the context
     */
    static Meters of(CamelContext context, String component, Supplier<Timers> timers) {
        Class<?> type = context.getClassResolver().resolveClass("io.micrometer.core.instrument.MeterRegistry");
        if (type == null) {
            return NONE;
        }
        Object named = context.getRegistry().lookupByNameAndType(REGISTRY_NAME, type);
        Object registry = named == null ? context.getRegistry().findSingleByType(type) : named;
        if (registry == null) {
            return NONE;
        }
        return OwnModule.find(context, ARTIFACT, Module.class)
                .map(found -> found.meters(registry, context.getName(), component, timers.get()))
                .orElseGet(() -> {
                    LoggerFactory.getLogger(Meters.class)
                            .info(
                                    "component '{}' has no meters in the registry of Micrometer that is bound: for them, add"
                                            + " the artifact io.github.redisdelay:{}",
                                    component,
                                    ARTIFACT);
                    return NONE;
                });
    }
}
