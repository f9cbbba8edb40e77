// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A reminder comes an hour before the event, whenever that has become; of a cancelled event there is none. */
class ReminderStoryIT {

    private static final ShopTime TIME = new ShopTime(3_600);

    /** An hour of the shop. */
    private static final Duration AHEAD = Duration.ofSeconds(1);

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private ExampleSettings settings;
    private ShopClient organiser;
    private ShopRows rows;
    private OrderShop shop;

    @BeforeEach
    void open() throws Exception {
        settings = new ExampleSettings(
                folder, Optional.empty(), TestPorts.next(), 0, false, TIME, ExampleSettings.Role.BOTH);
        organiser = new ShopClient(settings.httpPort());
        rows = new ShopRows(folder);
        start(DataSet.EMPTY);
    }

    private void start(DataSet dataSet) {
        shop = OrderShop.start(settings, dataSet, Duration.ofSeconds(3));
    }

    @AfterEach
    void stop() {
        shop.close();
    }

    @Test
    void itComesAnHourBefore() {
        Instant start = inShopHours(3);

        assertThat(organiser.plan("E-1", "Chess", start.toString()).status()).isEqualTo(200);

        awaitQuiet();
        assertReminded("E-1", start);
        assertThat(log.lines("event    E-1  Chess: planned for " + start)).hasSize(1);
        assertThat(log.lines("reminder E-1  Chess starts in an hour")).hasSize(1);
    }

    @Test
    void anEventThatIsMovedHasItsReminderAtTheNewTime() {
        Instant later = inShopHours(8);
        Instant sooner = inShopHours(6);
        organiser.plan("E-1", "Chess", inShopHours(6).toString());
        organiser.plan("E-2", "Yoga", inShopHours(100).toString());

        organiser.plan("E-1", "Chess", later.toString());
        organiser.plan("E-2", "Yoga", sooner.toString());

        awaitQuiet();
        assertReminded("E-1", later);
        assertReminded("E-2", sooner);
        assertThat(log.lines("event    E-1  Chess: moved to " + later)).hasSize(1);
    }

    @Test
    void anEventThatIsMovedAfterItsReminderHasAnother() {
        Instant first = inShopHours(1.5);
        organiser.plan("E-1", "Chess", first.toString());
        await().until(() -> log.lines("reminder E-1").size() == 1);

        Instant second = inShopHours(2);
        organiser.plan("E-1", "Chess", second.toString());

        awaitQuiet();
        assertThat(rows.of("SELECT * FROM reminder")).hasSize(2);
        assertThat(log.lines("reminder E-1  Chess starts in an hour, at " + second))
                .hasSize(1);
    }

    @Test
    void aCancelledEventHasNone() {
        organiser.plan("E-1", "Chess", inShopHours(5).toString());
        organiser.plan("E-2", "Yoga", inShopHours(5).toString());

        assertThat(organiser.cancel("E-1").status()).isEqualTo(200);
        assertThat(organiser.cancel("nothing").status()).isEqualTo(404);

        awaitQuiet();
        assertThat(rows.column("SELECT event_id FROM reminder")).containsExactly("E-2");
        assertThat(log.lines("event    E-1", "cancelled", "delayed")).hasSize(1);
    }

    @Test
    void aCancelledEventCanBePlannedAnew() {
        organiser.plan("E-1", "Chess", inShopHours(5).toString());
        organiser.cancel("E-1");
        Instant start = inShopHours(6);

        organiser.plan("E-1", "Chess", start.toString());

        awaitQuiet();
        assertReminded("E-1", start);
    }

    @Test
    void whoSaysTheSameTwiceIsRemindedOnce() {
        Instant start = inShopHours(3);
        organiser.plan("E-1", "Chess", start.toString());
        await().until(() -> log.lines("reminder E-1").size() == 1);

        organiser.plan("E-1", "Chess", start.toString());

        awaitQuiet();
        assertReminded("E-1", start);
        assertThat(log.lines("reminder E-1  not sent")).hasSize(1);
    }

    @Test
    void afterARestartItComesAtItsTimeAndWhatWasMissedAtOnce() {
        Instant soon = inShopHours(5); // late by more than 10 s it would not be sent any more
        Instant later = inShopHours(10_000);
        organiser.plan("E-1", "Chess", soon.toString());
        organiser.plan("E-2", "Yoga", later.toString());
        organiser.plan("E-3", "Birds", later.toString());
        organiser.cancel("E-3");

        shop.close();
        await().until(() -> Instant.now().isAfter(soon.minus(AHEAD)));
        start(DataSet.EMPTY);

        await().until(() -> rows.column("SELECT event_id FROM reminder").equals(List.of("E-1")));
        ShopClient console = ShopClient.ofConsole(shop.consoleUrl());
        assertThat(console.get("/api/message?queue=reminders&id=E-2")
                        .body()
                        .findValue("due")
                        .asText())
                .isEqualTo(MICROS.format(later.minus(AHEAD)));
        // It is acknowledged a moment later.
        await().until(() -> shop.waiting("reminders") == 1);
    }

    @Test
    void aBadPlanIsRefusedWithTheReason() {
        assertThat(organiser.plan("E-1", "Chess", "tomorrow").text("reason")).contains("startsAt 'tomorrow'");
        assertThat(organiser.plan("E-1", "Chess", "2030-01-31T10:15:00").status())
                .isEqualTo(400);
        assertThat(organiser.plan("E-1", " ", "2030-01-31T10:15:00Z").status()).isEqualTo(400);
        assertThat(rows.of("SELECT * FROM event")).isEmpty();
    }

    @Test
    void theProgrammeIsPlayedOnce() {
        shop.close();
        DataSet programme = new DataSet(
                Map.of(),
                Map.of(),
                List.of(
                        new DataSet.Act("E-1", "Chess", "0h", "5h"),
                        new DataSet.Act("E-2", "Yoga", "0h", "6h"),
                        new DataSet.Act("E-2", "Yoga", "30m", "7h"),
                        new DataSet.Act("E-3", "Birds", "0h", "5h"),
                        new DataSet.Act("E-3", null, "1h", null)));
        start(programme);
        await().until(() -> log.lines("event", "cancelled").size() == 1);

        shop.close();
        start(programme);

        awaitQuiet();
        assertThat(rows.column("SELECT event_id FROM reminder ORDER BY event_id"))
                .containsExactly("E-1", "E-2");
        assertThat(log.lines("event", "planned for")).hasSize(3);
        assertThat(log.lines("event", "moved to")).hasSize(1);
    }

    private static Instant inShopHours(double hours) {
        return Instant.now().plus((long) (hours * 1000), ChronoUnit.MILLIS).truncatedTo(ChronoUnit.MILLIS);
    }

    private void awaitQuiet() {
        await().atMost(Duration.ofSeconds(30)).until(() -> shop.waiting("reminders", "organisers") == 0);
    }

    /** Once, never too early, and hardly too late. */
    private void assertReminded(String event, Instant start) {
        List<Map<String, Object>> reminders = rows.of("SELECT * FROM reminder WHERE event_id = '" + event + "'");
        assertThat(reminders).hasSize(1);
        assertThat(((OffsetDateTime) reminders.get(0).get("starts_at")).toInstant())
                .isEqualTo(start);
        Instant sent = ((OffsetDateTime) reminders.get(0).get("sent_at")).toInstant();
        assertThat(sent).isBetween(start.minus(AHEAD), start.minus(AHEAD).plusSeconds(2));
    }
}
