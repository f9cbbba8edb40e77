// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.imports;

import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.option.OwnModule;
import io.github.redisdelay.camel.producer.PendingRequest;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Timers;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;

/**
 * The module {@code camel-redis-delay-import}. A component makes one of its own when the first endpoint asks for an import.
 * Thread-safe.
 */
public interface ImportModule {

    String ARTIFACT = "camel-redis-delay-import";

    /** The beginning of the names of its options. */
    String PREFIX = "import.";

    /**
     * The options of an endpoint.
     *
     * @param imports those that begin with {@link #PREFIX}, by their names without it
     * @param defaults the same of the component
     * @param own the names of the others that its URI sets
     */
    record Options(CamelContext context, Map<String, Object> imports, Map<String, Object> defaults, Set<String> own) {}

    /**
     * A producer or consumer that is started.
     *
     * @param queue where the messages go
     * @param metered the same for {@code meters}
     * @param routeId the consumer's name; empty for a producer
     * @param executor runs converters, which may block
     * @param maximumQueueLength the most messages that the queue may hold; 0 for any number
     */
    record Site(
            DelayQueue queue,
            Meters.MeteredQueue metered,
            Meters meters,
            String routeId,
            Executor executor,
            Timers timers,
            long maximumQueueLength) {}

    /** The operation {@code import} of a producer. */
    interface Operation {

        /**
         * Begins an import.
         *
         * @param running whether the producer runs; the import ends when it does not, or when the context or the route of the
         *     exchange is being stopped
         */
        PendingRequest send(Exchange exchange, BooleanSupplier running);

        /** Gives back its meters. */
        void close();
    }

    /** The imports beside a consumer, while that runs. */
    interface Bridge {

        void start();

        /** Ends them, after the slice under way; may be started again. */
        void stop();

        /** Ends them for good; the figures stay. */
        void close();

        /** The name of the queue that it imports from. */
        String source();

        /** How many messages it has imported. */
        long imported();

        /** Why the latest import has failed, or what it has left; null if all is well. */
        String problem();

        /** All that it knows, as plain values. Its {@code toString()} says the same in words. */
        Map<String, Object> figures();
    }

    /** An import by the operation, for whoever wants to see or stop it. */
    interface Run {

        /** The name that tells it apart from the other imports of its component. */
        String id();

        /** The name of the queue into which it imports. */
        String queue();

        /** The name of the queue that it imports from. */
        String source();

        /** Returns whether it moves nothing. */
        boolean isDryRun();

        boolean isRunning();

        /** Returns whether it was stopped before it had seen all. */
        boolean isStopped();

        /** How many messages it has moved. */
        long moved();

        /** How many messages are left in the queue that it imports from; -1 before it has looked. */
        long remaining();

        /** The reason why it has failed; null if it has not. */
        String problem();

        /** All that it knows, as plain values. Its {@code toString()} says the same in words. */
        Map<String, Object> figures();

        /** Has it end behind the slice under way. What was moved stays moved; another import goes on from there. */
        void stop();
    }

    /**
     * Checks the options of a producer.
     *
     * @return makes its operation when it is started; fails with an {@link IllegalArgumentException} as this method
     * @throws IllegalArgumentException naming the option, its value and what would be right
     */
    Function<Site, Operation> operation(Options options);

    /** The same for a consumer. Its bridge refuses a queue that it cannot import into. */
    Function<Site, Bridge> bridge(Options options);

    /** The imports by operations, those that began last first: those under way, and those that have ended within the last hour. */
    List<Run> runs();

    /**
     * The module on the class path.
     *
     * @param asked what asks for it, for the error
     * @throws IllegalArgumentException if it is missing
     * @throws IllegalStateException if it is of another version than the component: it uses what is not public
     */
    static ImportModule find(CamelContext context, String asked) {
        return OwnModule.find(context, ARTIFACT, ImportModule.class)
                .orElseThrow(() -> new IllegalArgumentException(asked
                        + ", and the module for imports is not on the class path: add the artifact io.github.redisdelay:"
                        + ARTIFACT + ", of the same version as camel-redis-delay"));
    }
}
