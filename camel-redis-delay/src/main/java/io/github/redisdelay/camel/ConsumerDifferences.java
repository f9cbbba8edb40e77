// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.delivery.ConsumerSettings;
import io.github.redisdelay.camel.delivery.DeadLetterTrimmer;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.ConsumerOptions;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds consumers of one queue whose options differ. Each message goes to any of them, whose options then decide about it.
 */
final class ConsumerDifferences {

    private ConsumerDifferences() {}

    /**
     * A consumer.
     *
     * @param identity what tells its queue from others
     * @param shown its name in a sentence
     */
    record Side(String identity, String shown, ConsumerSettings settings) {

        /** The options that decide what becomes of a message. */
        private Map<String, Object> deciding() {
            ConsumerOptions claims = settings.options();
            RetryPolicy retries = settings.retries();
            DeadLetterTrimmer.Limits limits = settings.limits();
            Map<String, Object> options = new TreeMap<>();
            options.put("visibilityTimeout", claims.visibilityTimeout());
            options.put("maximumVisibilityExtension", claims.maximumVisibilityExtension());
            options.put("maximumRedeliveries", retries.maximumRedeliveries());
            options.put("redeliveryDelay", retries.redeliveryDelay());
            options.put("backOffMultiplier", retries.backOffMultiplier());
            options.put("maximumRedeliveryDelay", retries.maximumRedeliveryDelay());
            options.put("redeliveryJitter", retries.redeliveryJitter());
            options.put("redeliveryDelays", retries.redeliveryDelays());
            options.put("deadLetter", settings.deadLetter());
            options.put("onExpiry", settings.keepExpired());
            options.put("deadLetterRetention", limits.retention());
            options.put("maximumDeadLetters", limits.maximum());
            return options;
        }

        private boolean receivesFromQueueOf(Side other) {
            return identity.equals(other.identity) && settings.deadLetters() == other.settings.deadLetters();
        }

        /** Returns whether it declares the recurring schedule of this id in a queue. */
        boolean declares(String queue, String id) {
            return id != null && id.equals(scheduleId()) && identity.equals(queue);
        }

        private String scheduleId() {
            return settings.schedule() == null ? null : settings.schedule().id();
        }

        private Set<String> differences(Side other) {
            Map<String, Object> differing = deciding();
            differing.entrySet().removeAll(other.deciding().entrySet());
            return differing.keySet();
        }
    }

    /** @throws IllegalArgumentException if one of the others declares the same recurring schedule */
    static void checkDeclaredOnce(Side started, Stream<Side> others) {
        String id = started.scheduleId();
        others.filter(other -> other.declares(started.identity, id)).findFirst().ifPresent(other -> {
            throw new IllegalArgumentException(started.shown() + " and " + other.shown() + " declare the schedule '"
                    + id + "': give one of them an option 'scheduleId', or remove cron and every from it");
        });
    }

    /** The first of the others that differs from a consumer that starts, in a sentence. One is enough to act on. */
    static Optional<String> find(Side started, Stream<Side> others) {
        return others.filter(other -> started.receivesFromQueueOf(other)
                        && !started.differences(other).isEmpty())
                .findFirst()
                .map(other -> started.shown() + " and " + other.shown() + " differ in " + started.differences(other)
                        + ": the consumer that receives a message decides about it by its own options. Give both the"
                        + " same, on the component or in both URIs");
    }
}
