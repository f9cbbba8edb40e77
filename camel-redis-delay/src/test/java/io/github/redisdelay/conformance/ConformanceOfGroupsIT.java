// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The vectors of groups, limits and recurring schedules, as {@link ConformanceIT} has all others. */
class ConformanceOfGroupsIT extends RecordedQueueIT {

    @Test
    void should_send_and_answer_these_calls_about_groups() {
        vector("One of a group at a time, in order", client -> {
            client.schedule(grouped("a1", "a"));
            client.schedule(grouped("a2", "a"), grouped("a3", "a"), grouped("b1", "b"));
            client.pass(MINUTE);
            List<ClaimedDelivery> first = client.claim(10);
            client.get("a2");
            client.settle(first, Settlement.ACKNOWLEDGE);
            client.claim(10);
        });
        vector("A failed message keeps its place, and a release before the first attempt gives it up", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"));
            client.pass(MINUTE);
            client.settle(client.claim(10).get(0), retry(HOUR));
            client.claim(10);
            client.pass(HOUR);
            client.settle(client.claim(10).get(0), Settlement.RELEASE);
            client.cancel("a1");
            client.settle(client.claim(10).get(0), Settlement.RELEASE);
        });
        vector("A group's messages: cancelled, rescheduled, promoted, replaced", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"), grouped("a3", "a"));
            client.reschedule("a1", IN_AN_HOUR);
            client.promote("a1");
            client.cancel("a2");
            client.schedule(grouped("a3", "b").withOnDuplicate(DuplicatePolicy.REPLACE));
            client.schedule(message("a1", DuplicatePolicy.REPLACE));
        });
        vector("Two places, and retries that let others pass", client -> {
            limit(client, new QueueLimits(2, false));
            client.schedule(grouped("a1", "a"), grouped("a2", "a"), grouped("a3", "a"));
            client.pass(MINUTE);
            client.settle(client.claim(10).get(0), retry(HOUR));
            client.claim(10);
            limit(client, QueueLimits.DEFAULT);
        });
        vector("One that is due earlier takes a place, also where its call has replaced another one", client -> {
            limit(client, new QueueLimits(2, false));
            client.schedule(
                    message("a1", IN_AN_HOUR).withGroup("a"),
                    message("a2", DueTime.after(MINUTE)).withGroup("a"));
            client.schedule(grouped("a2", "a").withOnDuplicate(DuplicatePolicy.REPLACE), grouped("a3", "a"));
        });
        vector("An id that is used again after damage, in another group, comes when it is due", client -> {
            client.schedule(message("x", NOW));
            client.pass(MINUTE);
            client.claim(10);
            client.schedule(
                    grouped("a", "g"),
                    grouped("b", "g"),
                    message("b2", NOW),
                    message("k", IN_AN_HOUR).withGroup("k"));
            client.redis("ZREM", VectorRecorder.BASE + ":leased", "x");
            client.redis("HDEL", VectorRecorder.BASE + ":messages", "b");
            client.schedule(message("b", IN_AN_HOUR).withGroup("h"));
            client.redis("HDEL", VectorRecorder.BASE + ":messages", "b2");
            client.schedule(message("b2", DueTime.after(HOUR.plus(MINUTE))).withGroup("k"));
            client.pass(MINUTE);
            client.settle(client.claim(10).get(0), Settlement.ACKNOWLEDGE);
            assertThat(client.claim(10)).isEmpty();
        });
        vector("A group is read, and its messages changed together", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"), grouped("a3", "a"));
            client.call("group", Json.object("group", "a", "limit", 2), () -> client.queue
                    .group("a")
                    .list(null, 2));
            client.call("group", Json.object("group", "a", "limit", 0), () -> client.queue
                    .group("a")
                    .info());
            client.pass(MINUTE);
            client.call("groups", Map.of(), () -> client.queue.admin().groups());
            client.call("cancel group", Json.object("group", "a"), () -> client.queue
                    .group("a")
                    .cancelAll(false, false));
        });
        vector("A large message of a group, whose record names the group", client -> {
            client.schedule(ScheduleRequest.of("large", bytes("0123456789".repeat(103)), NOW)
                    .withGroup("a"));
            client.pass(MINUTE);
            client.settle(client.claim(1).get(0), Settlement.ACKNOWLEDGE);
        });
        vector("A dead letter keeps its group", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"));
            client.pass(MINUTE);
            client.settle(client.claim(1).get(0), DEAD_LETTER);
            client.redrive("a1@" + client.now(), null);
        });
        VectorFiles.assertVectors("groups.json", vectors);
    }

    private static void limit(RecordedClient client, QueueLimits limits) {
        client.call("limit", Json.object("limits", limits.toString()), () -> client.queue
                .admin()
                .limit(limits));
    }

    @Test
    void should_send_and_answer_these_calls_about_pauses_and_limits() {
        vector("A queue is paused, and resumed", client -> {
            client.claim(10);
            client.call("pause", Map.of(), () -> client.queue.admin().pause().result());
            client.schedule(message("order-1", NOW));
            client.claim(10);
            client.call("pause", Map.of(), () -> client.queue.admin().pause().result());
            client.call("resume", Map.of(), () -> client.queue.admin().resume().result());
            client.claim(10);
        });
        vector("A rate of the queue: one in ten seconds, two at once", client -> {
            limit(client, new QueueLimits(1, true, Rate.of(1, Duration.ofSeconds(10), 2), null, 0));
            client.schedule(message("a", NOW), message("b", NOW), message("c", NOW));
            client.pass(MINUTE);
            client.claim(10);
            client.pass(Duration.ofSeconds(10));
            client.settle(client.claim(10).get(0), Settlement.ACKNOWLEDGE);
            limit(client, QueueLimits.DEFAULT);
        });
        vector("A rate of each group: one in ten seconds", client -> {
            limit(client, new QueueLimits(0, true, null, Rate.of(1, Duration.ofSeconds(10), 1), 0));
            client.schedule(grouped("a1", "a"), grouped("a2", "a"), grouped("b1", "b"));
            client.pass(MINUTE);
            client.claim(10);
            client.claim(10);
            client.pass(Duration.ofSeconds(10));
            client.claim(10);
        });
        vector("A group is paused, until a time and for a time, and resumed", client -> {
            client.schedule(grouped("a1", "a"), grouped("b1", "b"));
            pause(client, DueTime.after(MINUTE));
            client.get("a1");
            pause(client, new DueTime(false, client.now() + 3_600_000_000L));
            pause(client, DueTime.after(MINUTE));
            client.claim(10);
            client.call(
                    "resume group",
                    Json.object("group", "a"),
                    () -> client.queue.group("a").resume().result());
            client.claim(10);
        });
        vector("A failed delivery pauses its group", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"));
            client.pass(MINUTE);
            client.settle(client.claim(10).get(0), new Settlement.PauseGroup(retry(Duration.ZERO), MINUTE));
            client.claim(10);
            client.pass(MINUTE);
            client.claim(10);
        });
        vector("Two messages at a time, over all consumers", client -> {
            limit(client, new QueueLimits(1, true, null, null, 2));
            client.schedule(message("a", NOW), message("b", NOW), message("c", NOW));
            client.pass(Duration.ofSeconds(1));
            List<ClaimedDelivery> claimed = client.claim(10);
            client.claim("c2", 10, ClaimRequest.NO_BATCH, false);
            client.settle(claimed.get(0), Settlement.ACKNOWLEDGE);
            client.claim("c2", 10, ClaimRequest.NO_BATCH, false);
            client.pass(MINUTE);
            client.claim(10);
        });
        VectorFiles.assertVectors("limits.json", vectors);
    }

    private static void pause(RecordedClient client, DueTime until) {
        client.call(
                "pause group",
                Json.object("group", "a", until.relative() ? "after" : "at", until.micros()),
                () -> client.queue.group("a").pause(until).result());
    }

    @Test
    void should_send_and_answer_these_calls_about_recurring_schedules() {
        Schedule hourly = Schedule.every(HOUR);
        vector("A schedule is declared, declared again, and has another rule", client -> {
            client.schedule(message("report", NOW).recurring(hourly, 0));
            client.schedule(message("report", NOW).recurring(hourly, client.now()));
            client.pass(MINUTE);
            ScheduleRequest daily = message("report", NOW)
                    .recurring(Schedule.cron("0 2 * * *", ZoneId.of("Europe/Berlin")), client.now());
            client.schedule(daily);
            client.get("report");
            client.schedule(message("report", NOW).recurring(hourly, RecordedClient.START));
            client.cancel("report");
        });
        vector("A run succeeds, and the next one fails, is retried, and given up", client -> {
            client.schedule(message("report", NOW).recurring(hourly, 0));
            client.pass(HOUR);
            client.settle(client.claim(1).get(0), Settlement.ACKNOWLEDGE);
            client.pass(HOUR);
            client.settle(client.claim(1).get(0), retry(MINUTE));
            client.pass(MINUTE);
            client.settle(client.claim(1).get(0), DEAD_LETTER);
            client.redrive("report@" + client.now(), null);
            client.acknowledge(client.claim(1).get(0));
        });
        vector("Missed times are one run, at once", client -> {
            client.schedule(message("report", NOW).recurring(hourly, 0));
            client.pass(Duration.ofHours(5));
            client.settle(client.claim(1).get(0), Settlement.ACKNOWLEDGE);
        });
        vector("A rule that is stored during a run; a group", client -> {
            client.schedule(message("report", NOW).recurring(hourly, 0).withGroup("a"));
            client.pass(HOUR);
            ClaimedDelivery run = client.claim(1).get(0);
            client.schedule(message("report", NOW)
                    .recurring(Schedule.every(Duration.ofMinutes(10)), client.now())
                    .withGroup("a"));
            client.settle(run, Settlement.ACKNOWLEDGE);
        });
        vector("A message takes the place of a schedule", client -> {
            client.schedule(message("report", NOW).recurring(hourly, 0));
            client.schedule(message("report", DuplicatePolicy.REPLACE));
        });
        VectorFiles.assertVectors("schedules.json", vectors);
    }
}
