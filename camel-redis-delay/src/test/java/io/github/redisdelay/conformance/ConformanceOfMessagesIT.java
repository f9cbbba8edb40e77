// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The vectors of messages, of their deliveries and of dead letters, as {@link ConformanceIT} has all others. */
class ConformanceOfMessagesIT extends RecordedQueueIT {

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
}
