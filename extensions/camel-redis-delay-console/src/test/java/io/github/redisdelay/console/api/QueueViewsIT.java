// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The overview of queues and the view of one, compared with what was planted. */
class QueueViewsIT extends ApiIT {

    @Test
    void should_show_all_queues_the_worst_first() {
        DelayQueue onTime = client.queue("on-time");
        schedule(onTime, "a", DueTime.after(Duration.ofMinutes(7)));
        schedule(onTime, "b", DueTime.after(Duration.ofMinutes(59)));
        hold(onTime, "app-1", 1);
        DelayQueue paused = client.queue("paused");
        schedule(paused, "a", LONG_AGO);
        schedule(paused, "b", DueTime.after(Duration.ofMinutes(30)));
        get(paused.admin().pause());
        DelayQueue late = client.queue("late");
        scheduleMany(late, "m", 37, LONG_AGO);
        DelayQueue empty = client.queue("empty");
        schedule(empty, "a", IN_AN_HOUR);
        get(empty.cancel("a"));
        awaitKnown(4);

        QueueViews.Queues seen = api.queues(ANYBODY);
        assertThat(seen.queues())
                .extracting(
                        QueueViews.Row::name, QueueViews.Row::state, QueueViews.Row::delayed, QueueViews.Row::overdue)
                .containsExactly(
                        tuple("late", "late", 37L, 37L),
                        tuple("paused", "paused", 2L, 1L),
                        tuple("on-time", "onTime", 2L, 0L),
                        tuple("empty", "empty", 0L, 0L));
        assertThat(seen.more()).isFalse();
        QueueViews.Row row = seen.queues().get(2);
        assertThat(row.nextHour()).hasSize(12).startsWith(0L, 1L).endsWith(1L);
        assertThat(row.consumers()).isEqualTo(1);
        assertThat(row.nextDue())
                .isBetween(seen.time().plusSeconds(400), seen.time().plusSeconds(420));
        assertThat(row.diagnosis()).isEmpty();
        assertThat(row.actions()).contains("cancel", "redriveAll", "purge", "purgeAll", "cancelAll");
        assertThat(seen.queues().get(0).diagnosis()).singleElement().satisfies(finding -> {
            assertThat(finding.level()).isEqualTo("error");
            assertThat(finding.text())
                    .startsWith("37 are overdue (the oldest for ")
                    .endsWith("and no consumer is there");
        });
        assertThat(seen.queues().get(1).diagnosis())
                .extracting(Diagnosis.Finding::text)
                .singleElement()
                .asString()
                .startsWith("paused, and no consumer is there: 1 is due and waits for Resume (the oldest for ")
                .endsWith(", 1 more becomes due within the next hour");
    }

    @Test
    void should_say_with_whom_consumers_are_busy() {
        DelayQueue queue = client.queue("busy");
        scheduleMany(queue, "m", 10, LONG_AGO);
        hold(queue, "slow@app-1", 2);
        hold(queue, "slow@app-2", 1);
        await().until(() -> get(queue.admin().stats()).leased() == 3);
        await().untilAsserted(() -> {
            QueueViews.Row row = (QueueViews.Row) api.queue(ANYBODY, "busy").first();
            assertThat(row.state()).isEqualTo("late");
            assertThat(row.diagnosis().get(0).text())
                    .startsWith("7 are overdue")
                    .contains("although 2 consumers are there: they are busy (slow@app-1 on 2, slow@app-2 on 1)");
        });
        // Seen for 10 s: the sentence tells what hangs.
        await().untilAsserted(() -> assertThat(
                        ((QueueViews.Row) api.queue(ANYBODY, "busy").first())
                                .diagnosis()
                                .get(0)
                                .text())
                .matches(".* has worked for the longest time on m\\d, due at 1970-01-01T00:00:00Z and leased since"
                        + " 20.*Z or earlier: check what its route waits for"));
        QueueViews.Details details =
                (QueueViews.Details) api.queue(ANYBODY, "busy").second();
        assertThat(details.consumerList())
                .extracting(QueueViews.Consumer::name, QueueViews.Consumer::leased)
                .containsExactlyInAnyOrder(tuple("slow@app-1", 2), tuple("slow@app-2", 1));
        assertThat(details.lastDue()).isEqualTo(Times.of(1));
    }

    @Test
    void should_tell_of_dead_letters_and_their_leading_cause() {
        DelayQueue queue = client.queue("mails");
        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        failures.put("m1", failure("java.net.ConnectException", "send", "failed"));
        failures.put("m2", failure("java.net.ConnectException", "send", "failed"));
        failures.put("m3", failure(null, null, "expired"));
        bury(queue, failures);
        await().untilAsserted(() -> {
            QueueViews.Row row = api.queues(ANYBODY).queues().get(0);
            assertThat(row.dead()).isEqualTo(3);
            assertThat(row.deadLastHour()).isEqualTo(3);
            assertThat(row.diagnosis())
                    .extracting(Diagnosis.Finding::text)
                    .singleElement()
                    .asString()
                    .startsWith("3 dead letters, 2 of them since 20")
                    .endsWith("Z: java.net.ConnectException in route send");
        });
    }

    @Test
    void should_count_what_is_ahead_and_find_the_burst() {
        DelayQueue queue = client.queue("reminders");
        long now = get(queue.admin().stats()).timeMicros();
        long inSevenHours = now + Duration.ofHours(7).toNanos() / 1000;
        long second = inSevenHours - inSevenHours % 1_000_000;
        scheduleMany(queue, "burst", 600, new DueTime(false, second + 100_000));
        scheduleMany(queue, "its-end", 400, new DueTime(false, second + 850_000));
        schedule(queue, "shortly-before", new DueTime(false, second - 1));
        schedule(queue, "just-behind", new DueTime(false, second + 1_000_000));
        for (int hour = 1; hour <= 20; hour++) {
            schedule(
                    queue,
                    "h" + hour,
                    new DueTime(false, now + Duration.ofHours(hour).toNanos() / 1000));
        }
        schedule(queue, "year", new DueTime(false, now + Duration.ofDays(400).toNanos() / 1000));
        schedule(queue, "due", LONG_AGO);
        for (Span span : Span.values()) {
            QueueViews.Ahead ahead = api.outlook("reminders", span.code());
            assertThat(ahead.overdue()).as(span.code()).isEqualTo(1);
            long bars = ahead.bars().stream().mapToLong(QueueViews.Bar::count).sum();
            assertThat(bars + ahead.after()).as(span.code()).isEqualTo(1023);
            if (span == Span.MINUTE || span == Span.HOUR) {
                assertThat(ahead.burst()).as(span.code()).isNull();
            } else {
                assertThat(ahead.burst().count()).as(span.code()).isEqualTo(1001);
                assertThat(ahead.burst().at()).isEqualTo(Times.of(second));
                assertThat(ahead.burst().to()).isEqualTo(Times.of(second + 1_000_000));
            }
        }
        QueueViews.Ahead all = api.outlook("reminders", "all");
        assertThat(all.after()).isZero();
        for (int i = 1; i < all.bars().size(); i++) {
            assertThat(all.bars().get(i).from()).isEqualTo(all.bars().get(i - 1).to());
        }
    }

    @Test
    void should_tell_of_no_burst_that_has_gone_meanwhile() {
        DelayQueue queue = client.queue("reminders");
        long now = get(queue.admin().stats()).timeMicros();
        scheduleMany(
                queue,
                "burst",
                1000,
                new DueTime(false, now + Duration.ofHours(7).toNanos() / 1000));
        await().untilAsserted(() -> assertThat(bursts("reminders"))
                .singleElement()
                .asString()
                .startsWith("1000 messages become due within one second, at "));
        assertThat(api.outlook("reminders", "day").burst()).isNotNull();
        get(queue.admin().cancelAll(any -> true, Long.MAX_VALUE));
        await().atMost(Duration.ofSeconds(10)).until(() -> bursts("reminders").isEmpty());
        await().untilAsserted(() ->
                assertThat(api.queues(ANYBODY).queues().get(0).diagnosis()).isEmpty());
        await().atMost(Duration.ofSeconds(10))
                .until(() -> api.outlook("reminders", "day").burst() == null);
    }

    private List<String> bursts(String queue) {
        return ((QueueViews.Row) api.queue(ANYBODY, queue).first())
                .diagnosis().stream()
                        .map(Diagnosis.Finding::text)
                        .filter(text -> text.contains("within one second"))
                        .toList();
    }

    @Test
    void should_see_the_partitions_that_are_recorded() {
        DelayQueue queue = client.queue("wide", 4);
        scheduleMany(queue, "m", 40, LONG_AGO);
        awaitKnown(1);
        QueueViews.Row row = api.queues(ANYBODY).queues().get(0);
        assertThat(row.name()).isEqualTo("wide");
        assertThat(row.partitions()).isEqualTo(4);
        assertThat(row.delayed()).isEqualTo(40);
        assertThat(api.messages("wide", "delayed", null, false, null, 256L).messages())
                .hasSize(40);
        assertThat(api.message("wide", "m7", null).messages()).hasSize(1);
    }

    @Test
    void should_know_no_queue_that_nobody_uses_and_leave_no_trace() {
        ApiException error = catchThrowableOfType(ApiException.class, () -> api.queue(ANYBODY, "nothing"));
        assertThat(error.kind()).isEqualTo(ApiException.Kind.NOT_FOUND);
        assertThat(error).hasMessageStartingWith("There is no queue 'nothing': it was never used");
        assertThat(api.outlook("nothing", "all").bars()).hasSize(1);
        assertThat(redis.client().getKeys().getKeysByPattern(redis.keyPrefix() + "*"))
                .isEmpty();
        assertThat(api.queues(ANYBODY).queues()).isEqualTo(List.of());
    }

    @Test
    void should_show_an_empty_queue_that_was_used_or_has_a_route() {
        DelayQueue used = client.queue("used");
        schedule(used, "a", IN_AN_HOUR);
        get(used.cancel("a"));
        awaitKnown(1);
        try (ConsoleApi console = new ConsoleApi(
                () -> List.of(new QueueSource(client, redis.address(), Map.of("of-a-route", 1))),
                List::of,
                ConsoleOptions.DEFAULTS)) {
            for (String name : List.of("used", "of-a-route")) {
                assertThat(((QueueViews.Row) console.queue(ANYBODY, name).first()).state())
                        .as(name)
                        .isEqualTo("empty");
            }
        }
    }

    @Test
    void should_take_samples_of_a_queue_that_somebody_looks_at() {
        schedule(client.queue("looked-at"), "a", IN_AN_HOUR);
        assertThat(((QueueViews.Details) api.queue(ANYBODY, "looked-at").second()).history())
                .isNull();
        await().until(() ->
                ((QueueViews.Details) api.queue(ANYBODY, "looked-at").second()).history() != null);
        QueueViews.Details details =
                (QueueViews.Details) api.queue(ANYBODY, "looked-at").second();
        assertThat(details.history().delayed()).containsOnly(1L);
        assertThat(Duration.between(details.history().since(), details.time())).isLessThan(Duration.ofSeconds(20));
    }
}
