// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.apache.camel.http.base.HttpOperationFailedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {

    private final RetryAfter retryAfter =
            new RetryAfter(Duration.ofHours(1), Clock.fixed(Instant.parse("2030-01-31T10:15:00Z"), ZoneOffset.UTC));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    7                             | PT7S
                    ' 0 '                         | PT0S
                    3601                          | PT1H
                    99999999999999999999          | PT1H
                    Thu, 31 Jan 2030 10:16:00 GMT | PT1M
                    Thu, 31 Jan 2030 10:14:00 GMT | PT0S
                    Wed, 31 Jan 2080 10:14:00 GMT | PT1H
                    soon                          |
                    -5                            |
                    1.5                           |
                    """)
    void secondsOrADateUpToALimit(String header, Duration wait) {
        assertThat(retryAfter.of(answer(Map.of("Retry-After", header)))).isEqualTo(wait);
    }

    @Test
    void anyLetterCaseWillDo() {
        assertThat(retryAfter.of(answer(Map.of("retry-after", "7")))).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void withoutTheHeaderTheStepsDecide() {
        assertThat(retryAfter.of(answer(Map.of()))).isNull();
    }

    private static HttpOperationFailedException answer(Map<String, String> headers) {
        return new HttpOperationFailedException("http://localhost", 429, "Too Many Requests", null, headers, null);
    }
}
