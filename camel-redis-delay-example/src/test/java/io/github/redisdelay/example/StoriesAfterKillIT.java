// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Notifications, refunds and reminders after the program was killed. */
class StoriesAfterKillIT extends ShopProcess {

    @Test
    void afterAKillTheOtherStoriesGoOnToo() throws Exception {
        speed = 36_000; // An hour in a tenth of a second.
        start();
        List<String> there = IntStream.range(0, 10).mapToObj(i -> "T-" + i).toList();
        List<String> gone = List.of("G-0", "G-1", "G-2");
        there.forEach(id -> customer.order(ShopClient.order(id, "1h", PartnerRoutes.url(port))));
        gone.forEach(id -> customer.order(ShopClient.order(id, "1h", ShopClient.NOBODY)));
        Instant starts = Instant.now().plus(window(Duration.ofSeconds(25))).truncatedTo(ChronoUnit.MILLIS);
        customer.plan("E-1", "Chess", starts.minusSeconds(10).toString());
        customer.plan("E-1", "Chess", starts.toString());
        customer.plan("E-2", "Yoga", starts.toString());
        customer.cancel("E-2");
        for (String id : there) {
            await(id).until(() -> customer.state(id).equals("CLOSED"));
            assertThat(customer.pay(id).status()).isEqualTo(409);
        }
        await().until(() -> text().contains("message 'G-2' of queue 'notifications', attempt 5"));

        process.destroyForcibly().onExit().join();
        start();

        // A message that was under way at the kill is delivered again when its lease ends, after ten seconds.
        await().atMost(Duration.ofSeconds(90)).until(() -> lastSummary("notifications:")
                .endsWith("notifications: 10 delivered, 0 to be tried, 3 failed for good"));
        await().atMost(Duration.ofSeconds(90))
                .until(() -> lastSummary("refunds:").endsWith(", 0 under way"));
        await().atMost(Duration.ofSeconds(90))
                .until(() -> lastSummary("reminders:").endsWith("reminders: 1 sent, 0 to come; 1 events cancelled"));
        process.destroy();
        process.onExit().join();

        ShopRows rows = new ShopRows(folder.resolve("data"));
        assertThat(rows.column("SELECT order_id FROM received_notification"))
                .containsExactlyInAnyOrderElementsOf(there);
        assertThat(rows.column("SELECT order_id FROM refund WHERE state = 'DONE'"))
                .containsExactlyInAnyOrderElementsOf(there);
        String inTime = "sent_at BETWEEN DATEADD(MILLISECOND, -100, starts_at) AND DATEADD(SECOND, 2, starts_at)";
        assertThat(rows.column("SELECT event_id FROM reminder WHERE " + inTime)).containsExactly("E-1");
        assertThat(rows.of("SELECT starts_at FROM reminder"))
                .extracting(row -> ((OffsetDateTime) row.get("starts_at")).toInstant())
                .containsExactly(starts);
    }

    private String lastSummary(String story) throws IOException {
        List<String> lines = text().lines()
                .filter(line -> line.contains("-------- " + story))
                .toList();
        return lines.isEmpty() ? "" : lines.get(lines.size() - 1);
    }
}
