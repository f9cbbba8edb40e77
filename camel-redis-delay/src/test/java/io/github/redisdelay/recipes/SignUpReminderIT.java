// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class SignUpReminderIT extends RecipeIT {

    /** Plays the mail server. */
    public static class Mail {
        final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

        public void remindToConfirm(String user) {
            sent.add(user);
        }
    }

    private final Mail mail = new Mail();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new SignUpReminder();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("mail", mail);
    }

    @Test
    void should_remind_once_after_a_day() {
        template.sendBody("direct:signedUp", "ada");
        assertThat(minutesToWait("sign-ups")).isEqualTo(24 * 60);
        makeDue("sign-ups");
        await().untilAsserted(() -> assertThat(mail.sent).containsExactly("ada"));
        await().until(() -> isEmpty("sign-ups"));
        template.sendBody("direct:signedUp", "ada");
        assertThat(isEmpty("sign-ups")).isTrue();
    }

    @Test
    void should_not_remind_who_has_confirmed() {
        template.sendBody("direct:signedUp", "ada");
        template.sendBody("direct:confirmed", "ada");
        assertThat(isEmpty("sign-ups")).isTrue();
        template.sendBody("direct:signedUp", "ada");
        assertThat(stats("sign-ups").delayed()).as("may sign up again").isOne();
    }

    @Test
    void should_not_remind_too_late() throws Exception {
        template.sendBodyAndHeader(
                "direct:signedUp",
                "ada",
                "CamelRedisDelayDeliverAt",
                Instant.now().minus(Duration.ofHours(13)));
        template.sendBodyAndHeader(
                "direct:signedUp",
                "bob",
                "CamelRedisDelayDeliverAt",
                Instant.now().minus(Duration.ofHours(11)));
        await().untilAsserted(() -> assertThat(mail.sent).containsExactly("bob"));
        await().until(() -> isEmpty("sign-ups"));
    }
}
