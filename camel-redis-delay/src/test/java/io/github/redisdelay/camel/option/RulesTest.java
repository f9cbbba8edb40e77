// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.Schedule;
import java.time.Duration;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules are read from options and headers, and errors name these. */
class RulesTest {

    @Test
    void should_read_an_interval_a_cron_expression_or_nothing() {
        assertThat(rule("15m", null, "UTC")).isEqualTo(Schedule.parse("every 15m"));
        assertThat(rule(Duration.ofDays(1), null, "UTC")).isEqualTo(Schedule.parse("every 24h"));
        assertThat(rule(null, "0 2 * * *", "Europe/Berlin"))
                .isEqualTo(rule(null, "0 2 * * *", ZoneId.of("Europe/Berlin")))
                .isEqualTo(Schedule.parse("cron 0 2 * * * Europe/Berlin"));
        assertThat(rule(null, null, "UTC")).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "15m | 0 2 * * * | UTC | option 'every' (15m) and option 'cron' (0 2 * * *) are both set",
                "1w  | -         | UTC | option 'every' '1w' is no duration",
                "1ms | -         | UTC | option 'every': interval PT0.001S of a recurring schedule must be from 1 s",
                "-   | 0 2 * *   | UTC | option 'cron': cron expression '0 2 * *' has 4 fields",
                "-   | 0 0 30 2 *| UTC | option 'cron': cron expression '0 0 30 2 *' never matches",
                "-   | 0 2 * * * | CEST+2 | option 'timeZone' is 'CEST+2': it must be a time zone that Java knows, such as",
                "15m | -         | Europe/Berln | option 'timeZone' is 'Europe/Berln': it must be a time zone"
            })
    void should_name_the_option_and_its_value(String every, String cron, String zone, String error) {
        assertThatThrownBy(() -> rule(every, cron, zone))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(error);
    }

    private static Schedule rule(Object every, Object cron, Object zone) {
        return Rules.of("option 'every'", every, "option 'cron'", cron, Rules.zone("option 'timeZone'", zone));
    }
}
