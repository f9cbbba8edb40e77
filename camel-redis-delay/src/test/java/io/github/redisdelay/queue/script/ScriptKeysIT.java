// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** The keys of the scripts of the queues, and what the scripts do about what lies in them. */
class ScriptKeysIT extends ScriptKeyRules {

    ScriptKeysIT() {
        super(new ComponentScripts());
    }

    @Override
    Set<String> needed(LuaScript script) {
        return switch (script.command()) {
            case "repair" -> {
                Set<String> parts =
                        new TreeSet<>(Set.of("messages", "delayed", "leased", "state", "config", "index", "parked"));
                IntStream.rangeClosed(1, 9).forEach(priority -> parts.add("delayed:" + priority));
                yield parts;
            }
            case "get" -> Set.of("messages", "delayed", "leased", "state", "config", "delayed:5", "consumers");
            case "group" -> Set.of("config", "groups");
            case "browse" -> Set.of("delayed", "state", "config", "delayed:5");
            case "outlook" -> Set.of("delayed", "config", "delayed:5");
            case "stats" ->
                Set.of(
                        "messages",
                        "delayed",
                        "leased",
                        "config",
                        "delayed:5",
                        "consumers",
                        "dead:delayed",
                        "dead:leased");
            default -> super.needed(script);
        };
    }

    @Test
    void should_give_a_message_once_that_is_in_several_sets() {
        redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE).add(1, "due");
        redisson.getScoredSortedSet(keys.key("leased"), StringCodec.INSTANCE).add(2, "high");
        redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE).add(3, "high");
        ClaimReply reply =
                ClaimReply.parse((List<?>) call(LuaScript.CLAIM, claim("twice", 1, CLAIM, 3_600_000_000L, 10, 10)));
        assertThat(reply.messages())
                .extracting(ClaimReply.ClaimedMessage::id)
                .containsExactlyInAnyOrder("high", "due", "ended");
        assertThat(inTwoSets()).isEmpty();
        assertThat(held(keys, "leased")).contains("high", "due");
    }

    @Test
    void should_tell_a_repeat_the_same_of_each_message_that_the_first_answer_did() {
        // One for the first time, one with priority, one whose lease expired, and one of another client's.
        redisson.<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                .fastPut("foreign".getBytes(StandardCharsets.US_ASCII), new byte[15]);
        redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE).add(2, "foreign");
        Object[] claim = claim("again", 1, CLAIM, 3_600_000_000L, 10, 10);
        List<?> first = (List<?>) call(LuaScript.CLAIM, claim);
        List<?> again = (List<?>) call(LuaScript.CLAIM, claim);
        assertThat((byte[]) again.get(4))
                .as("records")
                .isEqualTo((byte[]) first.get(4))
                .hasSize(24 + 24 + 40 + 40);
        List<ClaimReply.ClaimedMessage> messages = ClaimReply.parse(first).messages();
        assertThat(messages)
                .extracting(ClaimReply.ClaimedMessage::id)
                .containsExactlyInAnyOrder("high", "due", "ended", "foreign");
        assertThat(ClaimReply.parse(again).messages())
                .usingRecursiveComparison()
                .isEqualTo(messages);
    }

    /** An acknowledgement under a claim id of before, behind the one that finishes the message: a client may send both at once. */
    @Test
    void should_tell_who_held_a_message_before_the_call() {
        prepare(LuaScript.ACKNOWLEDGE);
        String one = "010000000000000000", held = "030000000000000000", gone = "020000000000000000";

        byte[] acknowledged =
                (byte[]) call(LuaScript.ACKNOWLEDGE, "session", 1, "l1", CLAIM, "l1", OTHER_CLAIM, "l1", CLAIM);
        byte[] settled = (byte[]) call(
                LuaScript.SETTLE,
                items(
                        bytes("session", 2, "base", "dead"),
                        bytes("l2", CLAIM, "acknowledge", 0, ""),
                        bytes("l2", OTHER_CLAIM, "acknowledge", 0, ""),
                        bytes("l2", CLAIM, "acknowledge", 0, "")));

        assertThat(List.of(acknowledged, settled))
                .extracting(reply -> HexFormat.of().formatHex(reply, 8, reply.length))
                .containsOnly(one + held + gone);
    }

    @Test
    void should_claim_across_as_many_lost_bodies_as_a_claim_can_meet() {
        int sequence = 1;
        for (int priority = -1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            Object[] many = new Object[3 + 256 * 5];
            System.arraycopy(bytes("lost", sequence++, "base"), 0, many, 0, 3);
            String flags = "at reject priority=" + Math.max(0, priority);
            for (int i = 0; i < 256; i++) {
                System.arraycopy(bytes("lost" + priority + "-" + i, flags, 0, "", "x"), 0, many, 3 + 5 * i, 5);
            }
            call(LuaScript.SCHEDULE, many);
            if (priority < 0) {
                redisson.getKeys().delete(keys.key("delayed:5")); // "high" would come first
                call(LuaScript.CLAIM, claim("lost", sequence++, CLAIM, 1, 256, 0));
            }
        }
        redisson.getKeys().delete(keys.key("messages"));
        List<?> reply = (List<?>) call(LuaScript.CLAIM, claim("lost", sequence, OTHER_CLAIM, 1000, 256, 256));
        ClaimReply parsed = ClaimReply.parse(reply);
        assertThat(parsed.messages()).isEmpty();
        assertThat(parsed.dropped()).hasSize(11 * 256);
        QueueSnapshot left = QueueSnapshot.read(redisson, keys);
        assertThat(left.keys().get("delayed")).hasSize(2);
        assertThat(left.keys().get("config")).isEmpty();
        assertThat(left.keys().get("state").keySet())
                .isEqualTo(left.keys().get("leased").keySet());
    }

    @Test
    void should_claim_by_all_priorities_and_forget_them() {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("priorities", "987654321");
        ClaimReply reply = ClaimReply.parse((List<?>) call(LuaScript.CLAIM, valid(LuaScript.CLAIM)));
        assertThat(reply.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("high", "due", "ended");
        assertThat(redisson.getMap(keys.key("config"), StringCodec.INSTANCE).readAllMap())
                .isEmpty();
    }

    @Test
    void should_tell_callers_and_consumers_what_a_queue_needs() throws Exception {
        redisson.getMap(keys.key("config"), StringCodec.INSTANCE).put("needs", "groups=0.2 rates=0.3");
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            String name = keys.base()
                    .substring(keys.base().indexOf('{') + 1, keys.base().length() - 1);
            DelayQueue queue = client.queue(name);
            for (Submission<?> refused : List.of(
                    queue.schedule(ScheduleRequest.of("new", new byte[0], DueTime.now())),
                    queue.cancel("due"),
                    queue.reschedule("due", DueTime.now()))) {
                assertThatThrownBy(() -> refused.result().get(20, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining(
                                "queue '" + name + "' needs 'groups' (since version 0.2) 'rates' (since version"
                                        + " 0.3), which this version of camel-redis-delay does not know; nothing was changed");
            }
            BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
            queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, new DeliveryHandler() {
                @Override
                public void handle(Delivery delivery) {}

                @Override
                public void claimsFailing(Throwable error) {
                    errors.add(error);
                }
            });
            assertThat(errors.poll(10, TimeUnit.SECONDS)).hasMessageContaining("needs 'groups' (since version 0.2)");
        }
    }
}
