// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.DeliveryCompletion;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.testkit.AllLogs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The log lines about a message that was taken away from the route that works on it. */
class StaleDeliveryLogIT extends ConsumerSideIT {

    private final AllLogs logs = new AllLogs(Level.DEBUG);
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void closeLogs() {
        go.countDown();
        logs.close();
    }

    private void receiveAndWait(String options) throws Exception {
        start(consume(options, exchange -> {
            take(exchange);
            go.await(20, TimeUnit.SECONDS);
        }));
        schedule("D", "x");
        next();
    }

    private List<String> lines() {
        String logger = DeliveryCompletion.class.getName() + " ";
        return logs.lines().stream()
                .filter(line -> line.contains(logger))
                .map(line -> line.replace(logger, ""))
                .toList();
    }

    private void assertOneLine(String line) {
        go.countDown();
        await().untilAsserted(() -> assertThat(lines()).containsExactly(line));
    }

    private String delivery() {
        return "message 'D' of queue '" + queue + "', attempt 1";
    }

    private void replace(DueTime due) {
        byte[] later = Envelope.of("y").encode();
        stored().schedule(ScheduleRequest.of("D", later, due).withOnDuplicate(DuplicatePolicy.REPLACE))
                .result()
                .join();
    }

    @Test
    void should_say_at_DEBUG_that_a_message_was_replaced_as_a_debounce_does() throws Exception {
        receiveAndWait("");
        replace(DueTime.after(Duration.ofHours(1)));
        assertOneLine(
                "DEBUG The settlement of " + delivery()
                        + " (acknowledge) is void: the message was replaced, and what has replaced it is delivered when it is due");
    }

    @Test
    void should_say_so_too_where_the_replacement_is_being_delivered() throws Exception {
        receiveAndWait("");
        replace(DueTime.now());
        claim(stored(), Duration.ofHours(1)); // or the route would get what has replaced it, and finish that, too
        assertOneLine(
                "DEBUG The settlement of " + delivery()
                        + " (acknowledge) is void: the message was replaced, and what has replaced it is delivered when it is due");
    }

    @Test
    void should_say_at_DEBUG_that_a_message_was_cancelled() throws Exception {
        receiveAndWait("");
        stored().cancel("D").result().join();
        assertOneLine("DEBUG The settlement of " + delivery()
                + " (acknowledge) is void: the message was cancelled, or another delivery has finished it");
    }

    @Test
    void should_warn_that_a_lease_had_ended_and_another_consumer_has_the_message() throws Exception {
        receiveAndWait("?visibilityTimeout=100ms&maximumVisibilityExtension=0&maximumRedeliveries=-1");
        // Its only slot is taken: nobody but this one claims the message again.
        claim(stored(), Duration.ofHours(1));
        assertOneLine("WARN The settlement of " + delivery()
                + " (acknowledge) came too late: its lease had expired; it may be delivered again");
    }
}
