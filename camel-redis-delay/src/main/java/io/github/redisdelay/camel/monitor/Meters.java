// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Timers;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.apache.camel.CamelContext;

/**
 * The meters of a component: each queue, consumer and client has its own for as long as it is used. Thread-safe.
 */
public interface Meters {

    /** The bean under which Camel keeps the registry of meters. */
    String REGISTRY_NAME = "metricsRegistry";

    /** No meters: what there is where no registry is bound. */
    Meters NONE = new Meters() {};

    /**
     * A queue that is used.
     *
     * @param place which Redis it is in, and which database of it
     * @param queue the queue itself, not that of its dead letters
     * @param client the one that the queue is of
     */
    record MeteredQueue(String keyPrefix, String place, DelayQueue queue, Reference<OpenClient> client) {}

    /** What happens to messages. Each has a counter. A new one is a constant here, and its call of {@link Use#count}. */
    enum Event {
        SCHEDULED("Messages that were stored"),
        CANCELLED("Messages that were cancelled"),
        PROMOTED("Delayed messages that were made due"),
        DELIVERED("Messages that were handed to a route"),
        RETRIED("Deliveries that another one follows after a delay"),
        DEAD_LETTERED("Messages that were moved to the dead letters"),
        DROPPED("Messages that were given up and not kept"),
        EXPIRED("Messages that were not delivered in their time to live");

        final String description;

        Event(String description) {
            this.description = description;
        }
    }

    /** Meters of one user, which gives them back when it stops; the last user's are removed. */
    interface Use {
        default void count(Event event, long messages) {}

        default void release() {}
    }

    /** The meters of those who send to a queue. */
    interface Producing extends Use {
        Producing NONE = new Producing() {};
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

    default Producing producing(MeteredQueue queue) {
        return Producing.NONE;
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

    /**
     * The meters in the registry that is bound in a context: by the name that Camel's own meters use, or the only one of its
     * type. Without Micrometer or a registry there are none.
     *
     * @param component the name of the component, which tells its meters from those of other components of the context
     */
    static Meters of(CamelContext context, String component, Supplier<Timers> timers) {
        try {
            return MicrometerMeters.of(context, component, timers);
        } catch (NoClassDefFoundError e) {
            return NONE; // Micrometer is not on the class path
        }
    }
}
