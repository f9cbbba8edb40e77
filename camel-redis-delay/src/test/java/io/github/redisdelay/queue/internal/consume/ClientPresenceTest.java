// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.QueueRegistry;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The heartbeats of a client with several queues. */
class ClientPresenceTest {

    private final FakeTimers timers = new FakeTimers();
    private final List<String> told = new ArrayList<>();

    private CompletableFuture<Object> answer(LuaScript script, List<Object> keys) {
        if (script == LuaScript.HEARTBEAT) {
            told.add(keys.get(0).toString());
        }
        return CompletableFuture.completedFuture(ByteBuffer.allocate(9)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(1)
                .array());
    }

    @Test
    void should_look_by_each_consumer_in_turn() {
        ScriptExecutor redis = (script, keys, arguments, attempt) -> answer(script, keys);
        UnbatchedCalls calls = new UnbatchedCalls(redis, timers, new Random(1), Duration.ofMinutes(1));
        ClientPresence presence = new ClientPresence(
                calls,
                new QueueRegistry("p", calls, timers),
                timers,
                new WakeupChannel(null, timers, new Random(1)),
                new DataLossReport(timers, "Redis"));
        List<ConsumerHeartbeat> heartbeats = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            heartbeats.add(presence.heartbeat(
                    new ConsumedPartition(QueueAddress.of("p", "queue" + i), null, CallGate.OPEN),
                    ConsumerId.next(new Random(i)),
                    "me"));
        }
        presence.begin(heartbeats);
        assertThat(told).hasSize(4).doesNotHaveDuplicates();
        told.clear();
        timers.advance(Duration.ofSeconds(21));
        assertThat(told).as("one each 5 s").hasSize(4).doesNotHaveDuplicates();
        heartbeats.forEach(each -> presence.end(List.of(each), CompletableFuture.completedFuture(null)));
        timers.advance(Duration.ofSeconds(5));
        assertThat(timers.waiting()).isZero();
    }
}
