// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.delivery.ConsumerSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of consumers of one queue whose options differ. Each message goes to any of them, whose options then decide about it.
 */
final class ConsumerDifferences {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerDifferences.class);

    /** The options that decide what becomes of a message. */
    private static final Map<String, Function<ConsumerSettings, Object>> DECIDING = deciding();

    private ConsumerDifferences() {}

    private static Map<String, Function<ConsumerSettings, Object>> deciding() {
        Map<String, Function<ConsumerSettings, Object>> options = new LinkedHashMap<>();
        options.put("visibilityTimeout", settings -> settings.options().visibilityTimeout());
        options.put("maximumVisibilityExtension", settings -> settings.options().maximumExtension());
        options.put("maximumRedeliveries", settings -> settings.retries().maximumRedeliveries());
        options.put("redeliveryDelay", settings -> settings.retries().redeliveryDelay());
        options.put("backOffMultiplier", settings -> settings.retries().backOffMultiplier());
        options.put("maximumRedeliveryDelay", settings -> settings.retries().maximumRedeliveryDelay());
        options.put("redeliveryJitter", settings -> settings.retries().redeliveryJitter());
        options.put("redeliveryDelays", settings -> settings.retries().redeliveryDelays());
        options.put("deadLetter", ConsumerSettings::deadLetter);
        options.put("onExpiry", ConsumerSettings::keepExpired);
        options.put("deadLetterRetention", settings -> settings.limits().retention());
        options.put("maximumDeadLetters", settings -> settings.limits().maximum());
        return options;
    }

    /**
     * A consumer.
     *
     * @param identity what tells its queue from others
     * @param shown its name in a sentence
     */
    record Side(String identity, String shown, ConsumerSettings settings) {

        private List<String> differences(Side other) {
            boolean same = identity.equals(other.identity) && settings.deadLetters() == other.settings.deadLetters();
            return DECIDING.entrySet().stream()
                    .filter(option -> same
                            && !Objects.equals(
                                    option.getValue().apply(settings),
                                    option.getValue().apply(other.settings)))
                    .map(Map.Entry::getKey)
                    .toList();
        }
    }

    /** Compares a consumer that starts with the others of its context. One line is enough to act on. */
    static void warn(String queue, Side started, Stream<Side> others) {
        others.filter(other -> !started.differences(other).isEmpty())
                .findFirst()
                .ifPresent(other -> LOG.warn(
                        "queue '{}': {} and {} differ in {}: whichever gets a message decides about it by its own. Give both"
                                + " the same, on the component or in both URIs",
                        queue,
                        started.shown(),
                        other.shown(),
                        started.differences(other)));
    }
}
