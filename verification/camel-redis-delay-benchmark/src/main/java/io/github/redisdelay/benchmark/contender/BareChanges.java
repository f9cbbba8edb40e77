// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.InFlight;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * Changes of different kinds by bare scripts: those that wait for the same script go together in one call. Up to two calls are
 * under way, two of one script only if many wait.
 */
public final class BareChanges {

    private static final int WORTHWHILE = 64;
    private static final int CLAIM_ID_BYTES = 16;
    private static final int RECORD_BYTES = 40;

    private static final List<Object> KEYS = List.of("bare:messages", "bare:delayed", "bare:leased", "bare:state");

    // ARGV id, due time and body of each
    private static final String SCHEDULE = """
            local bodies, scores = {}, {}
            for i = 1, #ARGV, 3 do
              bodies[#bodies + 1], bodies[#bodies + 2] = ARGV[i], ARGV[i + 2]
              scores[#scores + 1], scores[#scores + 2] = ARGV[i + 1], ARGV[i]
            end
            redis.call('HSET', KEYS[1], unpack(bodies))
            return redis.call('ZADD', KEYS[2], unpack(scores))
            """;

    // ARGV ids
    private static final String CANCEL = """
            redis.call('ZREM', KEYS[2], unpack(ARGV))
            redis.call('ZREM', KEYS[3], unpack(ARGV))
            redis.call('HDEL', KEYS[4], unpack(ARGV))
            return redis.call('HDEL', KEYS[1], unpack(ARGV))
            """;

    // Begins those of deliveries: ARGV id and claim id of each, and more
    private static final String HELD = """
            local ids, held = {}, {}
            for i = 1, #ARGV, %1$d do
              ids[#ids + 1] = ARGV[i]
            end
            local records = redis.call('HMGET', KEYS[4], unpack(ids))
            for i = 1, #ids do
              if records[i] and string.sub(records[i], 9, 24) == ARGV[%1$d * i - %1$d + 2] then
                held[#held + 1] = ids[i]
            """;

    private static final String ACKNOWLEDGE = """
              end
            end
            if #held > 0 then
              redis.call('ZREM', KEYS[3], unpack(held))
              redis.call('HDEL', KEYS[4], unpack(held))
              redis.call('HDEL', KEYS[1], unpack(held))
            end
            return #held
            """;

    // ARGV id, claim id, due time and new record of each
    private static final String RETURN = """
                scores[#scores + 1], scores[#scores + 2] = ARGV[4 * i - 1], ids[i]
                new[#new + 1], new[#new + 2] = ids[i], ARGV[4 * i]
              end
            end
            if #held > 0 then
              redis.call('HSET', KEYS[4], unpack(new))
              redis.call('ZADD', KEYS[2], unpack(scores))
              redis.call('ZREM', KEYS[3], unpack(held))
            end
            return #held
            """;

    private final RScript redis;
    private final String claim;
    private final Script schedules;
    private final Script cancels;
    private final Script acknowledgements;
    private final Script returns;
    private final List<Script> scripts;
    private int underWay; // guarded by this

    private record Change(Object[] arguments, CompletableFuture<Void> answered) {}

    /** A script, and who waits for it. */
    private static final class Script {
        final String digest;
        final Queue<Change> waiting = new ArrayDeque<>(); // guarded by the changes
        int underWay; // guarded by the changes

        Script(String digest) {
            this.digest = digest;
        }
    }

    public BareChanges(RedissonClient redisson) {
        redis = redisson.getScript(ByteArrayCodec.INSTANCE);
        claim = redis.scriptLoad(BareScripts.FENCED.claim);
        schedules = load(SCHEDULE);
        cancels = load(CANCEL);
        acknowledgements = load(HELD.formatted(2) + ACKNOWLEDGE);
        returns = load("local scores, new = {}, {}\n" + HELD.formatted(4) + RETURN);
        scripts = List.of(schedules, cancels, acknowledgements, returns);
    }

    private Script load(String text) {
        return new Script(redis.scriptLoad(text));
    }

    public CompletableFuture<?> schedule(String id, byte[] body, long dueMicros) {
        return ask(schedules, ascii(id), ascii(Long.toString(dueMicros)), body);
    }

    public CompletableFuture<?> cancel(String id) {
        return ask(cancels, ascii(id));
    }

    /**
     * Claims messages, and finishes them.
     *
     * @param messages how many
     * @param fails which are returned with a failure, due at a time; all others are acknowledged
     */
    public void deliver(int messages, IntPredicate fails, byte[] failure, long dueMicros) throws Exception {
        redis.eval(RScript.Mode.READ_WRITE, FloorContender.MAKE_TABLE, RScript.ReturnType.LONG, KEYS.subList(3, 4));
        byte[] due = ascii(Long.toString(dueMicros));
        InFlight finished = new InFlight(messages);
        int count = 0;
        byte[] claimId = claimId(0);
        CompletableFuture<List<byte[]>> claimed = claim(claimId);
        while (count < messages) {
            List<byte[]> reply = claimed.get();
            byte[] repliedTo = claimId;
            claimId = claimId(count + 1);
            claimed = claim(claimId);
            for (byte[] id : reply.subList(0, reply.size() / 2)) {
                finished.begin();
                (fails.test(++count)
                                ? ask(returns, id, repliedTo, due, record(dueMicros, failure))
                                : ask(acknowledgements, id, repliedTo))
                        .whenComplete((done, error) -> finished.end(error));
            }
        }
        finished.awaitAll();
        claimed.get();
    }

    private static byte[] claimId(long number) {
        return ByteBuffer.allocate(CLAIM_ID_BYTES).putLong(number).array();
    }

    private static byte[] record(long dueMicros, byte[] failure) {
        return ByteBuffer.allocate(RECORD_BYTES + failure.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(0, (byte) 1)
                .putDouble(24, dueMicros)
                .putDouble(32, dueMicros)
                .put(RECORD_BYTES, failure)
                .array();
    }

    private CompletableFuture<List<byte[]>> claim(byte[] claimId) {
        return redis.<List<byte[]>>evalShaAsync(
                        RScript.Mode.READ_WRITE, claim, RScript.ReturnType.LIST, KEYS, (Object) claimId)
                .toCompletableFuture();
    }

    private CompletableFuture<Void> ask(Script script, Object... arguments) {
        Change change = new Change(arguments, new CompletableFuture<>());
        synchronized (this) {
            script.waiting.add(change);
        }
        send();
        return change.answered;
    }

    private void send() {
        for (Script script : scripts) {
            List<Change> call = new ArrayList<>();
            synchronized (this) {
                if (underWay == FloorContender.CALLS
                        || script.waiting.size() < (script.underWay == 0 ? 1 : WORTHWHILE)) {
                    continue;
                }
                underWay++;
                script.underWay++;
                while (!script.waiting.isEmpty() && call.size() < FloorContender.MESSAGES_PER_CALL) {
                    call.add(script.waiting.poll());
                }
            }
            Object[] arguments = call.stream()
                    .flatMap(change -> List.of(change.arguments).stream())
                    .toArray();
            redis.evalShaAsync(RScript.Mode.READ_WRITE, script.digest, RScript.ReturnType.LONG, KEYS, arguments)
                    .whenComplete((reply, error) -> answered(script, call, error));
        }
    }

    private void answered(Script script, List<Change> call, Throwable error) {
        synchronized (this) {
            underWay--;
            script.underWay--;
        }
        for (Change change : call) {
            if (error == null) {
                change.answered.complete(null);
            } else {
                change.answered.completeExceptionally(error);
            }
        }
        send();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
