// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.redisson.client.codec.StringCodec;

/** A queue on a clock that each test sets. */
abstract class ClockedQueueIT extends RealQueueIT {

    protected static final long START = 1_800_000_000_000_000L;
    protected static final long SECOND = 1_000_000;

    protected long now;
    private String clock;
    protected boolean twice;

    /** A client on the clock of the test, each call of which may be executed twice, as if its first answer was lost. */
    @Override
    protected DelayQueueClient openClient() {
        clock = redis.uniqueQueue();
        setClock(START);
        ScriptExecutor stepped = SteppedCaller.at(redis.client(), clock);
        return ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, (script, keys, arguments, attempt) -> {
            CompletableFuture<Object> first = stepped.call(script, keys, arguments, attempt);
            return twice && (script == LuaScript.CLAIM || script == LuaScript.CHANGE || script == LuaScript.SETTLE)
                    ? first.thenCompose(answer -> stepped.call(script, keys, arguments, attempt))
                    : first;
        });
    }

    protected void setClock(long micros) {
        now = micros;
        redis.client().getBucket(clock, StringCodec.INSTANCE).set(String.valueOf(micros));
    }

    protected static Rate rate(int count, long micros, int burst) {
        return Rate.of(count, Duration.ofNanos(micros * 1000), burst);
    }

    protected QueueLimits limit(Rate rate, Rate groupRate) {
        return get(queue.admin().limit(new QueueLimits(1, true, rate, groupRate, 0)));
    }

    protected void schedule(String id, String group) {
        ScheduleRequest request = ScheduleRequest.of(id, bytes(id), LONG_AGO);
        get(queue.schedule(group == null ? request : request.withGroup(group)));
    }

    protected void scheduleMany(int count, String group) {
        for (int i = 0; i < count; i++) {
            schedule(String.format("%s%03d", group, i), group.isEmpty() ? null : group);
        }
    }

    protected ClaimReply claimed(int messages, long leaseMicros, long batchMicros) {
        return get(claims.claim(
                new ClaimRequest(
                        FakeHost.randomClaimId(), leaseMicros, messages, messages, false, 1_900_000, batchMicros),
                new CompletableFuture<>()));
    }

    protected ClaimReply claimed(int messages) {
        return claimed(messages, 3600 * SECOND, ClaimRequest.NO_BATCH);
    }

    protected List<String> take(int messages) {
        List<ClaimedDelivery> all = claim(messages);
        all.forEach(delivery -> get(delivery.settle(Settlement.ACKNOWLEDGE)));
        return ids(all);
    }

    protected Map<String, String> config() {
        return new HashMap<>(redis.client().<String, String>getMap(keys().key("config"), StringCodec.INSTANCE));
    }

    protected MessageState state(String id) {
        return get(queue.get(id)).orElseThrow().info().state();
    }
}
