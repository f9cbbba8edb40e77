// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumerHeartbeat;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The vectors of the conformance kit are what this client sends and Redis answers: those that read, those around the messages, and
 * refusals. Messages and groups have theirs in classes of their own. {@code -Dgolden.write=true} writes them anew.
 */
class ConformanceIT extends RecordedQueueIT {

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

    @Test
    void should_have_these_scripts() {
        VectorFiles.assertScripts(
                "scripts.json",
                "camel-redis-delay/src/main/resources/io/github/redisdelay/queue/lua/command",
                LuaScript.values());
    }
}
