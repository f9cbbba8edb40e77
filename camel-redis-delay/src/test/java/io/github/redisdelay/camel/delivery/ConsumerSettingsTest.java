// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.queue.ConsumerOptions;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ConsumerSettingsTest {

    private static ConsumerSettings settings(Consumer<RedisDelayConfiguration> change) {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        change.accept(options);
        return new OptionReader(options).consumer("orders", Set.of());
    }

    private static void assertRefused(Consumer<RedisDelayConfiguration> change, String... parts) {
        assertThatThrownBy(() -> settings(change))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains(parts);
    }

    @Test
    void should_have_these_defaults() {
        ConsumerSettings settings = settings(options -> {});
        assertThat(settings.deadLetters()).isFalse();
        assertThat(settings.deadLetter()).isTrue();
        assertThat(settings.keepExpired()).isTrue();
        assertThat(settings.limits().isNone()).isTrue();
        assertThat(settings.claiming("me").batch()).isNull();
        assertThat(settings.claiming("me").concurrentConsumers()).isOne();
        assertThat(settings.claiming("me").name()).isEqualTo("me");
    }

    @Test
    void should_claim_batches() {
        ConsumerSettings settings = settings(options -> {
            options.setBatching(true);
            options.setConcurrentConsumers(3);
            options.setBatchSize(50);
            options.setBatchTimeout("250ms");
        });
        assertThat(settings.claiming("me").batch()).isEqualTo(new ConsumerOptions.Batch(50, Duration.ofMillis(250)));
        assertThat(settings.claiming("me").concurrentConsumers()).isEqualTo(3);
        assertThat(settings.options().batch())
                .as("what is polled comes one by one")
                .isNull();
    }

    @Test
    void should_have_no_limit_for_dead_letters() {
        ConsumerSettings settings = settings(options -> {
            options.setState("dead");
            options.setMaximumRedeliveries(2);
            options.setRedeliveryDelays("1s,2s");
            options.setDeadLetterRetention("1h");
        });
        assertThat(settings.deadLetters()).isTrue();
        assertThat(settings.retries().isLast(1000)).isFalse();
        assertThat(settings.retries().redeliveryDelays()).hasSize(2);
        assertThat(settings.limits().isNone()).isTrue();
    }

    @Test
    void should_keep_dead_letters_as_long_as_the_options_say() {
        ConsumerSettings settings = settings(options -> {
            options.setDeadLetterRetention("30d");
            options.setMaximumDeadLetters(5);
        });
        assertThat(settings.limits()).isEqualTo(new DeadLetterTrimmer.Limits(Duration.ofDays(30), 5));
    }

    @Test
    void should_refuse_what_is_not_possible() {
        assertRefused(options -> options.setState("leased"), "option 'state'", "'leased'", "dead");
        assertRefused(options -> options.setState("gone"), "option 'state'", "'gone'", "dead");
        assertRefused(options -> options.setOnExpiry("keep"), "option 'onExpiry'", "'keep'", "dead, drop");
        assertRefused(options -> options.setDeadLetterRetention("1w"), "option 'deadLetterRetention'", "'1w'");
        assertRefused(options -> options.setDeadLetterRetention("0"), "option 'deadLetterRetention'", "'0'");
        assertRefused(options -> options.setMaximumDeadLetters(-1), "option 'maximumDeadLetters'", "-1");
        for (int size : new int[] {0, -1, 257}) {
            assertRefused(
                    options -> {
                        options.setBatching(true);
                        options.setBatchSize(size);
                    },
                    "option 'batchSize' is " + size,
                    "1 to 256");
        }
        assertRefused(
                options -> {
                    options.setBatching(true);
                    options.setBatchTimeout("soon");
                },
                "option 'batchTimeout'",
                "'soon'");
    }
}
