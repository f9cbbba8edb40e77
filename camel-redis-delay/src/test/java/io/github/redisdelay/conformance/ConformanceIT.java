// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static io.github.redisdelay.conformance.ConformanceTest.WRITING;
import static io.github.redisdelay.conformance.VectorFiles.KIT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumerHeartbeat;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The vectors of the conformance kit are what this client sends and Redis answers, and its runner plays them. {@code
 * -Dgolden.write=true} writes them anew. A vector is a short history that begins without any key.
 */
class ConformanceIT extends RecordedIT {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final DueTime IN_AN_HOUR = DueTime.after(HOUR);
    private static final DueTime NOW = DueTime.now();

    private static ScheduleRequest message(String id, DuplicatePolicy policy) {
        return message(id, IN_AN_HOUR).withOnDuplicate(policy);
    }

    private static ScheduleRequest grouped(String id, String group) {
        return message(id, NOW).withGroup(group);
    }

    private static Settlement retry(Duration delay) {
        return new Settlement.Retry(delay, bytes("{\"message\":\"no answer\"}"));
    }

    private static final Settlement DEAD_LETTER = new Settlement.DeadLetter(bytes("{\"reason\":\"failed\"}"));

    /** Schedules messages that are due, and claims them all. */
    private static List<ClaimedDelivery> claimed(RecordedClient client, String... ids) {
        client.schedule(Stream.of(ids).map(id -> message(id, NOW)).toArray(ScheduleRequest[]::new));
        client.pass(Duration.ofSeconds(1));
        List<ClaimedDelivery> claimed = client.claim(10);
        assertThat(claimed).extracting(ClaimedDelivery::id).containsExactly(ids);
        return claimed;
    }

    @Test
    void should_send_and_answer_these_calls_about_messages() {
        vector("A message from its schedule to its acknowledgement", client -> {
            client.schedule(message("order-1", DueTime.after(Duration.ofMinutes(30))));
            client.claim(10);
            client.pass(Duration.ofMinutes(30));
            client.acknowledge(client.claim(10).get(0));
        });
        vector("An envelope, at a time; an id in UTF-8", client -> {
            client.schedule(ScheduleRequest.of(
                    "Auftrag-ä-訂單",
                    Envelope.of("hi", "text/plain", Map.of("shop", 7)).encode(),
                    new DueTime(false, client.now() + 5_000_000)));
            client.pass(MINUTE);
            client.acknowledge(client.claim(10).get(0));
        });
        vector("Bytes of any value as a body, and a large one", client -> {
            client.schedule(ScheduleRequest.of("bytes", new byte[] {0, 1, (byte) 0x80, (byte) 0xff, '\n'}, NOW));
            client.schedule(ScheduleRequest.of("large", bytes("0123456789".repeat(103)), NOW));
            client.pass(MINUTE);
            client.settle(client.claim(10), Settlement.ACKNOWLEDGE);
        });
        vector("An id that is in use by a delayed message", client -> {
            client.schedule(message("order-1", DuplicatePolicy.REJECT));
            client.schedule(message("order-1", DuplicatePolicy.REJECT));
            client.schedule(message("order-1", DuplicatePolicy.IGNORE));
            client.pass(MINUTE);
            client.schedule(message("order-1", DuplicatePolicy.REPLACE));
        });
        vector("An id that is in use by a delivery; one that replaces it", client -> {
            ClaimedDelivery delivery = claimed(client, "order-1").get(0);
            client.schedule(message("order-1", DuplicatePolicy.IGNORE));
            client.schedule(message("order-1", DuplicatePolicy.REPLACE));
            client.acknowledge(delivery);
        });
        vector("A delivery that schedules its own id again, by its claim id", client -> {
            ClaimedDelivery delivery = claimed(client, "order-1").get(0);
            client.schedule(message("order-1", IN_AN_HOUR).superseding(delivery.claimId()));
            client.cancel("order-1");
            client.schedule(message("order-1", IN_AN_HOUR).superseding(delivery.claimId()));
        });
        vector("A due time beyond the exact range", client -> {
            client.schedule(message("order-1", new DueTime(true, DueTime.MAX_MICROS)));
            client.schedule(message("order-1", new DueTime(false, DueTime.MAX_MICROS)));
            client.reschedule("order-1", new DueTime(true, DueTime.MAX_MICROS));
        });
        vector("An id that was finished, and counts as a duplicate for an hour", client -> {
            client.settle(claimed(client, "order-1").get(0), new Settlement.Acknowledge(HOUR));
            client.schedule(message("order-1", DuplicatePolicy.REJECT));
            client.cancel("order-1");
            client.cancel("order-1");
            client.settle(claimed(client, "order-1").get(0), new Settlement.Acknowledge(HOUR));
            client.pass(HOUR);
            client.schedule(message("order-1", DuplicatePolicy.REJECT));
        });
        vector("A queue that is full", client -> {
            client.schedule(message("a", IN_AN_HOUR).withMaximumQueueLength(1));
            client.schedule(message("b", IN_AN_HOUR).withMaximumQueueLength(1));
            client.schedule(message("a", DuplicatePolicy.REPLACE).withMaximumQueueLength(1));
        });
        vector("Priorities: the call without their keys is refused, and sent again with them", client -> {
            client.schedule(message("low", NOW));
            client.schedule(message("high", NOW).withPriority(9));
            client.schedule(message("middle", NOW).withPriority(5));
            client.pass(MINUTE);
            List<ClaimedDelivery> claimed = client.claim(2);
            client.settle(claimed.get(0), retry(MINUTE));
            client.acknowledge(claimed.get(1));
            client.claim(2);
            client.cancel("high");
        });
        vector("Messages in one call: all alike, and all different", client -> {
            client.schedule(message("a1", NOW), message("a2", NOW), message("a3", NOW));
            client.schedule(
                    message("b", DuplicatePolicy.REPLACE),
                    message("longer", new DueTime(false, client.now())).withPriority(3),
                    message("a1", DuplicatePolicy.IGNORE));
            client.cancelTogether("a1", "a2", "none");
            client.cancelTogether("a3", "b");
        });
        vector("An id that the client makes", client -> client.schedule(message(null, IN_AN_HOUR)));
        vector("Cancel, reschedule and promote: delayed, leased, and nowhere", client -> {
            client.schedule(message("order-1", IN_AN_HOUR));
            client.reschedule("order-1", DueTime.after(MINUTE));
            client.reschedule("order-1", new DueTime(false, client.now() + 3_600_000_000L));
            client.promote("order-1");
            client.promote("order-1");
            client.get("order-1");
            client.claim(1);
            client.get("order-1");
            client.promote("order-1");
            client.reschedule("order-1", IN_AN_HOUR);
            client.cancel("order-1");
            client.cancel("order-1");
            client.get("order-1");
        });
        vector("A call that is repeated, and a late copy of it", client -> {
            client.schedule(message("order-1", IN_AN_HOUR));
            client.again();
            client.cancel("order-1");
            client.again();
            client.refused(LuaScript.CHANGE, "a client in Javas0", 1, VectorRecorder.BASE, "order-1", "cancel", 0);
        });
        vector("A session's first call in another hour", client -> {
            client.schedule(message("order-1", IN_AN_HOUR));
            client.pass(HOUR);
            client.schedule(message("order-2", IN_AN_HOUR));
        });
        VectorFiles.assertVectors("messages.json", vectors);
    }

    @Test
    void should_send_and_answer_these_calls_about_deliveries() {
        vector("A failed delivery is retried, and comes with its failure", client -> {
            client.settle(claimed(client, "order-1").get(0), retry(MINUTE));
            client.get("order-1");
            client.pass(MINUTE);
            client.acknowledge(client.claim(1).get(0));
        });
        vector("A delivery that was not begun is released", client -> {
            client.settle(claimed(client, "order-1").get(0), Settlement.RELEASE);
            client.claim(1);
        });
        vector("A lease is extended", client -> {
            ClaimedDelivery delivery = claimed(client, "order-1").get(0);
            client.pass(Duration.ofSeconds(10));
            client.extend(delivery, Duration.ofSeconds(30));
            client.pass(Duration.ofSeconds(25));
            client.claim(1);
        });
        vector("A lease that has expired: claimed again, and the first deliveries are stale", client -> {
            List<ClaimedDelivery> first = claimed(client, "a", "b");
            client.pass(MINUTE);
            List<ClaimedDelivery> second = client.claim("c2", 10, ClaimRequest.NO_BATCH, false);
            client.acknowledge(first.get(0));
            client.settle(first.get(1), retry(MINUTE));
            client.acknowledge(second.get(0));
            client.cancel("b");
            client.settle(second.get(1), Settlement.RELEASE);
        });
        vector("A lease that has expired, but was not claimed again, is still held", client -> {
            ClaimedDelivery delivery = claimed(client, "order-1").get(0);
            client.pass(MINUTE);
            client.acknowledge(delivery);
        });
        vector("A message that has lost two leases comes alone", client -> {
            claimed(client, "poison", "order-1");
            client.pass(MINUTE);
            client.claim(10);
            client.pass(MINUTE);
            client.claim(10);
            client.claim(10);
        });
        vector("Some deliveries end in one call, one of them stale", client -> {
            List<ClaimedDelivery> claimed = claimed(client, "a", "b", "c", "d");
            client.cancel("c");
            client.settle(claimed, Settlement.ACKNOWLEDGE);
        });
        vector("Some deliveries are retried in one call, and one is dropped", client -> {
            List<ClaimedDelivery> claimed = claimed(client, "a", "b", "c", "d");
            client.settle(claimed.get(3), new Settlement.Drop(HOUR));
            client.settle(claimed.subList(0, 3), retry(Duration.ZERO));
            client.claim(10);
        });
        vector("A claim that is repeated gives what is still leased under its claim id", client -> {
            client.schedule(message("a", NOW), message("b", NOW));
            client.pass(MINUTE);
            client.claim(10);
            client.again();
            client.cancel("a");
            client.again();
        });
        vector("A batch of three: it waits, and comes when its first message has waited long enough", client -> {
            client.schedule(message("a", NOW), message("b", NOW));
            client.pass(Duration.ofMillis(10));
            client.claim("c0", 3, 5_000_000, false);
            client.pass(Duration.ofSeconds(5));
            client.claim("c0", 3, 5_000_000, false);
        });
        vector("A batch of two is complete", client -> {
            client.schedule(message("a", NOW), message("b", NOW), message("c", NOW));
            client.pass(Duration.ofMillis(10));
            client.claim("c0", 2, 5_000_000, false);
        });
        vector("Idle consumers: one is woken for a message that comes earlier", client -> {
            client.claim(10);
            client.claim("c2", 10, ClaimRequest.NO_BATCH, false);
            client.schedule(message("later", DueTime.after(Duration.ofSeconds(1))));
            client.schedule(message("earlier", NOW));
            client.claim(10);
            client.claim("c2", 0, ClaimRequest.NO_BATCH, false);
        });
        vector("A consumer that is gone is not waited for: the next one is woken", client -> {
            client.claim("c2gone", 10, ClaimRequest.NO_BATCH, false);
            client.pass(Duration.ofMillis(100));
            client.claim(10);
            client.schedule(message("order-1", NOW));
        });
        vector(
                "A consumer that was given all that it asked for leaves the waiters, unless its work is short",
                client -> {
                    client.claim(1);
                    client.claim("c2", 1, ClaimRequest.NO_BATCH, true);
                    client.schedule(message("a", NOW), message("b", NOW), message("c", NOW));
                    client.claim(1);
                    client.claim("c2", 1, ClaimRequest.NO_BATCH, true);
                });
        vector("An id whose body was lost is dropped", client -> {
            client.schedule(message("lost", NOW), message("order-1", NOW));
            client.redis("HDEL", VectorRecorder.BASE + ":messages", "lost");
            client.pass(MINUTE);
            client.claim(10);
        });
        VectorFiles.assertVectors("deliveries.json", vectors);
    }

    @Test
    void should_send_and_answer_these_calls_about_dead_letters() {
        vector("A dead letter: found by its message's id, listed, and redriven", client -> {
            client.settle(claimed(client, "order-1").get(0), DEAD_LETTER);
            String dead = "order-1@" + client.now();
            client.call("dead letters of", Json.object("id", "order-1"), () -> client.queue
                    .admin()
                    .deadLettersOf("order-1"));
            client.call("dead letters of", Json.object("id", dead), () -> client.queue
                    .admin()
                    .deadLettersOf(dead));
            client.call(
                    "list dead letters",
                    Json.object("limit", 10),
                    () -> client.queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 10));
            client.cancel("order-1");
            client.pass(MINUTE);
            client.redrive(dead, null);
            client.redrive(dead, null);
            client.acknowledge(client.claim(1).get(0));
        });
        vector("A dead letter whose message's id is in use again", client -> {
            client.settle(claimed(client, "order-1").get(0), DEAD_LETTER);
            String dead = "order-1@" + client.now();
            client.schedule(message("order-1", IN_AN_HOUR));
            client.redrive(dead, null);
        });
        vector("A consumer of dead letters", client -> {
            client.settle(claimed(client, "a", "b", "c"), DEAD_LETTER);
            List<ClaimedDelivery> dead = client.claimDead(10);
            client.redrive(dead.get(0).id(), null);
            client.redrive(dead.get(0).id(), dead.get(0).claimId());
            client.settle(dead.get(1), retry(MINUTE));
            client.acknowledge(dead.get(2));
        });
        vector("A dead letter that keeps its message's priority and id from being used again for an hour", client -> {
            client.schedule(message("order-1", NOW).withPriority(7));
            client.pass(MINUTE);
            client.settle(client.claim(1).get(0), new Settlement.DeadLetter(bytes("late"), HOUR));
            client.schedule(message("order-1", DuplicatePolicy.REJECT));
            client.redrive("order-1@" + client.now(), null);
        });
        vector("A dead letter is purged", client -> {
            client.settle(claimed(client, "order-1").get(0), DEAD_LETTER);
            String dead = "order-1@" + client.now();
            client.call(
                    "purge",
                    Json.object("id", dead),
                    () -> client.queue.deadLetters().cancel(dead).result());
            client.call(
                    "purge",
                    Json.object("id", dead),
                    () -> client.queue.deadLetters().cancel(dead).result());
        });
        VectorFiles.assertVectors("dead-letters.json", vectors);
    }

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

    @Test
    void should_send_and_answer_these_calls_that_read() {
        vector("Pages of delayed and of leased messages", client -> {
            client.schedule(message("a", NOW), message("b", NOW), message("c", IN_AN_HOUR));
            client.schedule(message("high", IN_AN_HOUR).withPriority(1));
            list(client, MessageState.DELAYED, PageStart.first());
            list(client, MessageState.DELAYED, PageStart.newest());
            list(client, MessageState.DELAYED, PageStart.at(client.now() + 3_000_000));
            client.pass(MINUTE);
            client.claim(2);
            list(client, MessageState.LEASED, PageStart.first());
        });
        vector("A page of parked messages, and the figures", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"));
            client.pass(MINUTE);
            list(client, MessageState.PARKED, PageStart.first());
            client.call("stats", Map.of(), () -> client.queue.admin().stats());
        });
        vector("Figures, outlook, and all messages promoted and cancelled", client -> {
            client.schedule(message("a", NOW), message("b", IN_AN_HOUR), message("c", DueTime.after(MINUTE)));
            client.pass(Duration.ofSeconds(2));
            client.call("stats", Map.of(), () -> client.queue.admin().stats());
            List<Long> bounds = List.of(client.now(), client.now() + 60_000_000, client.now() + 120_000_000);
            client.call("outlook", Json.object("bounds", bounds), () -> client.queue
                    .admin()
                    .outlook(bounds));
            client.call("promote all", Map.of(), () -> client.queue.admin().promoteAll(any -> true, 10));
            client.call("cancel all", Map.of(), () -> client.queue.admin().cancelAll(any -> true, 10));
            client.call("stats", Map.of(), () -> client.queue.admin().stats());
        });
        vector(
                "The server; its version is not that of this vector",
                client -> client.call(
                        "server",
                        Map.of(),
                        () -> client.queue.admin().serverInfo().thenApply(info -> null)));
        VectorFiles.assertVectors("reading.json", vectors);
    }

    private static void list(RecordedClient client, MessageState state, PageStart from) {
        client.call(
                "list",
                Json.object(
                        "state",
                        state,
                        "from",
                        from.micros() < 0 ? null : from.micros(),
                        "newest",
                        from.backwards(),
                        "limit",
                        2),
                () -> client.queue.admin().list(state, from, 2));
    }

    @Test
    void should_send_and_answer_these_calls_around_the_messages() {
        vector("A queue is registered with its first change", client -> {
            client.scheduleFirst(message("order-1", IN_AN_HOUR));
            client.call(
                    "queues", Json.object("limit", 10), () -> client.client().queues(10));
        });
        vector("A consumer's heartbeats: it comes, is seen, and goes", client -> {
            ConsumerHeartbeat heartbeat = client.heartbeat("consumc0", "shop 1");
            client.beat("heartbeat", heartbeat::start);
            client.pass(MINUTE);
            client.beat("heartbeat", heartbeat::beat);
            client.call("consumers", Map.of(), () -> client.queue.admin().consumers());
            client.schedule(message("order-1", NOW));
            client.claim(1);
            client.get("order-1");
            client.beat("farewell", heartbeat::stop);
        });
        vector("A consumer finds that Redis has lost data, and notes it", client -> {
            ConsumerHeartbeat heartbeat = client.heartbeat("consumc0", "shop 1");
            client.beat("heartbeat", heartbeat::start);
            client.redis("DEL", VectorRecorder.BASE + ":consumers");
            client.beat("heartbeat", heartbeat::beat);
            client.call("stats", Map.of(), () -> client.queue.admin().stats());
        });
        vector("A check makes messages delayed again whose entries were lost, and drops records", client -> {
            claimed(client, "leased", "kept");
            client.schedule(message("delayed", IN_AN_HOUR));
            client.redis("ZREM", VectorRecorder.BASE + ":leased", "leased");
            client.redis("ZREM", VectorRecorder.BASE + ":delayed", "delayed");
            client.redis("HDEL", VectorRecorder.BASE + ":messages", "kept");
            client.redis("ZREM", VectorRecorder.BASE + ":leased", "kept");
            client.call("check", Map.of(), () -> client.queue.admin().check());
        });
        vector("A check of dead letters mends their index", client -> {
            client.settle(claimed(client, "order-1").get(0), DEAD_LETTER);
            client.redis("DEL", VectorRecorder.BASE + ":dead:index");
            client.call(
                    "check",
                    Json.object("of", "dead letters"),
                    () -> client.queue.deadLetters().admin().check());
        });
        vector("A check brings groups into line whose index was lost", client -> {
            client.schedule(grouped("a1", "a"), grouped("a2", "a"));
            client.redis("DEL", VectorRecorder.BASE + ":groups");
            client.call("check", Map.of(), () -> client.queue.admin().check());
        });
        vector("The number of partitions is recorded by the first client, and another one is refused", client -> {
            client.call("use partitions", Json.object("partitions", 2), () -> client.client()
                    .usePartitions("orders", 2));
            client.call("use partitions", Json.object("partitions", 3), () -> client.client()
                    .usePartitions("orders", 3));
            client.schedule(message("order-1", IN_AN_HOUR));
            client.call(
                    "schedule",
                    Json.object("partitions", 2, "id", "order-1", "after", 0, "body", "x"),
                    () -> client.client()
                            .queue("orders", 2)
                            .schedule(ScheduleRequest.of("order-1", bytes("x"), NOW))
                            .result());
        });
        vector("A queue that is in use has one partition", client -> {
            client.schedule(message("order-1", IN_AN_HOUR));
            client.call("use partitions", Json.object("partitions", 2), () -> client.client()
                    .usePartitions("orders", 2));
        });
        vector("Whether the master has a history", client -> {
            client.call("replication", Map.of(), () -> ClientAccess.calls(client.client())
                    .once(client.address(), LuaScript.REPLICATION)
                    .thenApply(reply -> null));
            client.call("replication", Json.object("histories", List.of("", "another")), () -> ClientAccess.calls(
                            client.client())
                    .once(
                            client.address(),
                            LuaScript.REPLICATION,
                            bytes("s"),
                            bytes("1"),
                            bytes("b"),
                            bytes(""),
                            bytes("another"))
                    .thenApply(reply -> null));
        });
        VectorFiles.assertVectors("around.json", vectors);
    }

    @Test
    void should_refuse_these_calls() {
        String base = VectorRecorder.BASE;
        String session = "a client in Javas9";
        vector("Arguments that are wrong", client -> {
            client.refused(LuaScript.SCHEDULE, session, 0, base, "a", "after reject", 1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base);
            client.refused(LuaScript.SCHEDULE, session, 1, base, "", "after reject", 1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "soon reject", 1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "after reject", -1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "after reject colour=red", 1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "after reject limit=0", 1, "", "x");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "after reject priority=1 group=1", 1, "", "gx");
            client.refused(LuaScript.SCHEDULE, session, 1, base, "a", "at recur", 1, "", "no rule");
            client.refused(LuaScript.CHANGE, session, 1, base, "a", "forget", 0);
            client.refused(LuaScript.CLAIM, session, 1, "short", 1000, 1, 1, 1000, base, "", 0, 1000);
            client.refused(LuaScript.CLAIM, session, 1, "a claim id of 16", 1000, 257, 1, 1000, base, "", 0, 1000);
            client.refused(
                    LuaScript.SETTLE, session, 1, base, base + ":dead", "a", "a claim id of 16", "forget", 0, "");
            client.refused(LuaScript.ACKNOWLEDGE, session, 1, "a", "short");
            client.refused(LuaScript.REDRIVE, session, 1, base, "", "");
            client.refused(LuaScript.REPAIR, "sessions", 0, base, "");
            client.refused(LuaScript.BROWSE, "delayed", 1, "soon", "", "");
            client.refused(LuaScript.BROWSE, "lost", 1, 0, "", "");
            client.refused(LuaScript.BROWSE, "delayed", 1, 0, "", "oldest");
            client.refused(LuaScript.GROUP, "a", "", 257);
            client.refused(LuaScript.DEAD_LETTERS, "", "");
            client.refused(LuaScript.OUTLOOK, 1);
            client.refused(LuaScript.OUTLOOK, 2, 1);
            client.refused(LuaScript.PARTITIONS, 65);
            client.refused(LuaScript.HEARTBEAT, "short", "1.0 shop", 0);
            client.refused(LuaScript.REGISTER, "");
            client.refused(LuaScript.QUEUES, 501, 0);
        });
        vector("An acknowledgement of a message with a group, by the script for others", client -> {
            client.schedule(grouped("a1", "a"));
            client.pass(MINUTE);
            ClaimedDelivery delivery = client.claim(1).get(0);
            client.refused(
                    LuaScript.ACKNOWLEDGE, session, 1, "a1", delivery.claimId().bytes());
        });
        vector("A queue that needs what a client does not know", client -> {
            client.redis("HSET", base + ":config", "needs", "colours=9.9");
            client.schedule(message("order-1", NOW));
            client.claim(1);
            client.get("order-1");
        });
        vector("A configuration that another program has written", client -> {
            client.redis("HSET", base + ":config", "priorities", "19");
            client.schedule(message("order-1", NOW));
            client.redis("HSET", base + ":config", "partitions", "many");
            client.call("use partitions", Json.object("partitions", 2), () -> client.client()
                    .usePartitions("orders", 2));
        });
        vector("A key that holds something else", client -> {
            client.redis("SET", base + ":leased", "something else");
            client.schedule(message("order-1", NOW));
        });
        VectorFiles.assertVectors("refusals.json", vectors);
    }

    @BeforeAll
    static void start() throws IOException {
        start(LuaScript.values());
    }

    @Test
    void should_have_these_scripts() {
        VectorFiles.assertScripts(
                "scripts.json",
                "camel-redis-delay/src/main/resources/io/github/redisdelay/queue/lua/command",
                LuaScript.values());
    }

    // The runner

    private String python(Path vectors) throws Exception {
        Path python = Stream.of(System.getenv("PATH").split(System.getProperty("path.separator")))
                .map(folder -> Path.of(folder, "python3"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        assumeTrue(python != null, "no python3 was found: put one on the path, to play the vectors of " + KIT);
        Process process = new ProcessBuilder(
                        python.toString(),
                        "-B",
                        KIT.resolve("play.py").toString(),
                        server.address(),
                        vectors.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
        return process.exitValue() + " " + said;
    }

    @Test
    @DisabledIfSystemProperty(named = "golden.write", matches = "true", disabledReason = WRITING)
    void should_be_played_by_the_runner() throws Exception {
        assertThat(python(KIT.resolve("vectors"))).startsWith("0 ").contains(" vectors of ");
    }

    @Test
    @DisabledIfSystemProperty(named = "golden.write", matches = "true", disabledReason = WRITING)
    void should_be_refused_by_the_runner_where_a_reply_or_a_key_differs(@TempDir Path folder) throws Exception {
        Map<String, String> changes = Map.of(
                "\"delayed\": {\"order-1\": 18", "\"delayed\": {\"order-1\": 17",
                "\"reply\": \"hex:00", "\"reply\": \"hex:01",
                "\"envelope\": \"hex:f9", "\"envelope\": \"hex:f8",
                "\"partition\": 0", "\"partition\": 1",
                "\"sha1\": \"", "\"sha1\": \"0");
        for (String change : changes.keySet()) {
            Path copies = Files.createDirectory(folder.resolve("copy" + Integer.toHexString(change.hashCode())));
            String changed = "";
            try (var files = Files.newDirectoryStream(KIT.resolve("vectors"), "*.json")) {
                for (Path file : files) {
                    String text = Files.readString(file);
                    changed += text.contains(change) ? file.getFileName() + " " : "";
                    Files.writeString(copies.resolve(file.getFileName()), text.replace(change, changes.get(change)));
                }
            }
            assertThat(changed).as("files with " + change).isNotEmpty();
            assertThat(python(copies)).as(change).startsWith("1 ");
        }
    }
}
