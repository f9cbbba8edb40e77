// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.Header;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventReminderIT extends RecipeIT {

    /** Knows when people want to be reminded. */
    public static class Calendar {
        public Instant anHourBefore(Instant begins) {
            return begins.minus(Duration.ofHours(1));
        }
    }

    /** Plays the mail server. */
    public static class Mail {
        final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

        public void remind(String text, @Header("begins") Instant begins) {
            sent.add(text + " " + begins);
        }
    }

    private static final Instant TOMORROW = Instant.now().plus(Duration.ofDays(1));

    private final Mail mail = new Mail();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new EventReminder();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("calendar", new Calendar());
        registry.bind("mail", mail);
    }

    @BeforeEach
    void plan() throws Exception {
        send("direct:eventPlanned", "concert", TOMORROW);
    }

    private void send(String route, String text, Instant begins) {
        template.sendBodyAndHeaders(route, text, Map.of("eventId", "E-1", "begins", begins));
    }

    @Test
    void should_remind_an_hour_before_the_event() {
        assertThat(minutesToWait("reminders")).isBetween(22 * 60L, 23 * 60L);
        makeDue("reminders");
        await().untilAsserted(() -> assertThat(mail.sent).containsExactly("concert " + TOMORROW));
    }

    @Test
    void should_follow_an_event_that_is_moved() {
        send("direct:eventMoved", "", TOMORROW.plus(Duration.ofDays(1)));
        assertThat(minutesToWait("reminders")).isBetween(46 * 60L, 47 * 60L);
        send("direct:eventMoved", "", Instant.now().plus(Duration.ofMinutes(30)));
        await().untilAsserted(() -> assertThat(mail.sent).as("due at once").hasSize(1));
        await().until(() -> isEmpty("reminders"));
    }

    @Test
    void should_not_remind_again_of_an_event_that_is_moved_after_its_reminder() {
        makeDue("reminders");
        await().until(() -> isEmpty("reminders") && mail.sent.size() == 1);
        send("direct:eventMoved", "", TOMORROW.plus(Duration.ofDays(1)));
        assertThat(isEmpty("reminders")).isTrue();
    }

    @Test
    void should_tell_what_is_planned_last() {
        send("direct:eventPlanned", "concert, in the small hall", TOMORROW.plus(Duration.ofDays(1)));
        assertThat(minutesToWait("reminders")).isBetween(46 * 60L, 47 * 60L);
        makeDue("reminders");
        await().untilAsserted(() -> assertThat(mail.sent)
                .containsExactly("concert, in the small hall " + TOMORROW.plus(Duration.ofDays(1))));
    }

    @Test
    void should_not_remind_of_an_event_that_is_cancelled() {
        send("direct:eventCancelled", "", TOMORROW);
        assertThat(isEmpty("reminders")).isTrue();
    }
}
