// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NotificationUrlTest {

    @Test
    void aKnownPartnersUrlPasses() {
        assertThat(NotificationUrl.problem(PartnerRoutes.url(8080))).isNull();
        assertThat(NotificationUrl.problem(ShopClient.NOBODY)).isNull();
        assertThat(NotificationUrl.problem("http://localhost/told")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "localhost:8080",
                "https://localhost/",
                "file:/etc/passwd",
                "exec:rm",
                "http:localhost",
                "http://169.254.169.254/latest",
                "http://localhost.evil.example/",
                "http://evil.example/localhost",
                "http://localhost@evil.example/",
                "http://user:secret@localhost/",
                "http://localhost/told?proxyHost=evil.example",
                "http://localhost/told#fragment",
                "http://localhost/{{secret}}",
                "http://localhost/${body}",
                "HTTP://LOCALHOST.evil.example/",
                "http://localhost/\r\nHost: evil.example"
            })
    void anythingElseIsRefusedWithTheReason(String url) {
        assertThatThrownBy(() -> NotificationUrl.check(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("notifyUrl '" + url + "': it must be http://");
    }

    @Test
    void soIsAVeryLongOne() {
        assertThat(NotificationUrl.problem("http://localhost/" + "a".repeat(200)))
                .isNotNull();
    }

    @Test
    void soIsNone() {
        assertThat(NotificationUrl.problem(null)).isEqualTo("there is no notifyUrl");
    }
}
