// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.InFlight;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RScript;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * The least that a message takes which is due at once, by the same client library: a bare script stores it and wakes
 * the consumer, a second one hands it out, on the thread that reads Redis' answers. Nothing is checked, and nothing
 * kept. For messages that are due at once only.
 */
final class FloorMessaging implements Messaging {

    // KEYS messages, delayed  ARGV id, due time, body, channel
    private static final String SCHEDULE = """
            redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
            redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
            return redis.call('PUBLISH', ARGV[4], '')
            """;

    // KEYS messages, delayed, leased  Reply ids, bodies
    private static final String CLAIM = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 1)
            if #ids == 0 then
              return ids
            end
            redis.call('ZREM', KEYS[2], ids[1])
            redis.call('ZADD', KEYS[3], now + 30000000, ids[1])
            return { ids[1], redis.call('HGET', KEYS[1], ids[1]) }
            """;

    // KEYS messages, leased  ARGV id
    private static final String ACKNOWLEDGE = """
            redis.call('ZREM', KEYS[2], ARGV[1])
            return redis.call('HDEL', KEYS[1], ARGV[1])
            """;

    private static final String MESSAGES = "{floor}:messages";
    private static final String DELAYED = "{floor}:delayed";
    private static final String LEASED = "{floor}:leased";
    private static final String CHANNEL = "{floor}:wakeup";

    private final InFlight inFlight = new InFlight(OpenLoop.UNDER_WAY);
    private final LatenessRecorder recorder;
    private final RScript script;
    private final String schedule;
    private final String claim;
    private final String acknowledge;
    private final RTopic wakeups;

    FloorMessaging(RedissonClient redisson, LatenessRecorder recorder) {
        this.recorder = recorder;
        script = redisson.getScript(ByteArrayCodec.INSTANCE);
        schedule = script.scriptLoad(SCHEDULE);
        claim = script.scriptLoad(CLAIM);
        acknowledge = script.scriptLoad(ACKNOWLEDGE);
        wakeups = redisson.getTopic(CHANNEL, ByteArrayCodec.INSTANCE);
        wakeups.addListener(byte[].class, (channel, message) -> take());
    }

    private void take() {
        CompletableFuture<List<byte[]>> claimed =
                call(claim, RScript.ReturnType.LIST, List.of(MESSAGES, DELAYED, LEASED));
        claimed.thenAccept(reply -> {
            if (!reply.isEmpty()) {
                recorder.arrived(reply.get(1));
                call(acknowledge, RScript.ReturnType.LONG, List.of(MESSAGES, LEASED), reply.get(0));
            }
        });
    }

    @SuppressWarnings("unchecked")
    private <T> CompletableFuture<T> call(String sha, RScript.ReturnType type, List<Object> keys, Object... arguments) {
        return (CompletableFuture<T>) script.evalShaAsync(RScript.Mode.READ_WRITE, sha, type, keys, arguments)
                .toCompletableFuture();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void send(long number, long dueMicros, byte[] body) throws Exception {
        inFlight.begin();
        call(
                        schedule,
                        RScript.ReturnType.LONG,
                        List.of(MESSAGES, DELAYED),
                        ascii("m" + number),
                        ascii(Long.toString(dueMicros)),
                        body,
                        ascii(CHANNEL))
                .whenComplete((reply, error) -> inFlight.end(error));
    }

    @Override
    public void awaitStored() throws Exception {
        inFlight.awaitAll();
    }

    @Override
    public void close() {
        wakeups.removeAllListeners();
    }
}
