// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.queue.DueTime;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * The least that Redis can be asked to do for a hash of bodies, a sorted set of due times and one of leases: scripts
 * without any check, and no record of a delivery. Two calls are under way at a time, as those of the queue layer.
 */
final class FloorContender implements Contender {

    static final int CALLS = 2;
    static final int MESSAGES_PER_CALL = 256;

    // KEYS messages, delayed  ARGV id, due time and body of each message
    private static final String SCHEDULE = """
            for i = 1, #ARGV, 3 do
              redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
              redis.call('ZADD', KEYS[2], ARGV[i + 1], ARGV[i])
            end
            return #ARGV / 3
            """;

    // KEYS messages, delayed, leased  Reply ids, bodies
    private static final String CLAIM = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 256)
            if #ids == 0 then
              return ids
            end
            local expires = string.format('%.0f', now + 30000000)
            local leases = {}
            for i = 1, #ids do
              leases[2 * i - 1], leases[2 * i] = expires, ids[i]
            end
            redis.call('ZREM', KEYS[2], unpack(ids))
            redis.call('ZADD', KEYS[3], unpack(leases))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            local count = #ids
            for i = 1, count do
              ids[count + i] = bodies[i]
            end
            return ids
            """;

    // KEYS messages, leased  ARGV ids
    private static final String ACKNOWLEDGE = """
            redis.call('ZREM', KEYS[2], unpack(ARGV))
            return redis.call('HDEL', KEYS[1], unpack(ARGV))
            """;

    /** Ids of one length, all different: contenders may share a queue. */
    private static final AtomicLong IDS = new AtomicLong(1L << 56);

    private final RScript script;
    private final String schedule;
    private final String claim;
    private final String acknowledge;
    private final List<Object> scheduleKeys;
    private final List<Object> claimKeys;
    private final List<Object> acknowledgeKeys;
    private final RedissonClient redisson;
    private final String name;

    FloorContender(RedissonClient redisson, String name) {
        this.redisson = redisson;
        this.name = name;
        script = redisson.getScript(ByteArrayCodec.INSTANCE);
        schedule = script.scriptLoad(SCHEDULE);
        claim = script.scriptLoad(CLAIM);
        acknowledge = script.scriptLoad(ACKNOWLEDGE);
        String messages = messages();
        String delayed = name + ":delayed";
        String leased = name + ":leased";
        scheduleKeys = List.of(messages, delayed);
        claimKeys = List.of(messages, delayed, leased);
        acknowledgeKeys = List.of(messages, leased);
    }

    private String messages() {
        return name + ":messages";
    }

    @Override
    public String subject() {
        return Subject.FLOOR;
    }

    @Override
    public void schedule(Message message) throws Exception {
        send(List.of(message)).get();
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        List<Message> messages = new ArrayList<>(bodies.size());
        for (byte[] body : bodies) {
            messages.add(new Message(body, due));
        }
        send(messages).get();
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        InFlight inFlight = new InFlight(CALLS);
        List<Message> messages = new ArrayList<>(MESSAGES_PER_CALL);
        Message message;
        do {
            message = source.next();
            if (message != null) {
                messages.add(message);
            }
            if (messages.size() == MESSAGES_PER_CALL || (message == null && !messages.isEmpty())) {
                inFlight.begin();
                send(messages).whenComplete((reply, error) -> inFlight.end(error));
                messages.clear();
            }
        } while (message != null);
        inFlight.awaitAll();
    }

    private CompletableFuture<Object> send(List<Message> messages) {
        Object[] arguments = new Object[3 * messages.size()];
        long now = System.currentTimeMillis() * 1000;
        int i = 0;
        for (Message message : messages) {
            DueTime due = message.due();
            arguments[i++] = ascii(Long.toHexString(IDS.getAndIncrement()));
            arguments[i++] = ascii(Long.toString(due.relative() ? now + due.micros() : due.micros()));
            arguments[i++] = message.body();
        }
        return call(schedule, RScript.ReturnType.LONG, scheduleKeys, arguments);
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
    public Consumption consume(Arrivals arrivals) {
        Taker taker = new Taker(arrivals);
        taker.start();
        return taker;
    }

    /** While messages are acknowledged, the next ones are claimed. */
    private final class Taker extends Thread implements Consumption {

        private final Arrivals arrivals;
        private volatile boolean stopped;
        private volatile Throwable failure;

        Taker(Arrivals arrivals) {
            super("floor-taker");
            setDaemon(true);
            this.arrivals = arrivals;
        }

        @Override
        public void run() {
            try {
                CompletableFuture<?> acknowledged = CompletableFuture.completedFuture(null);
                CompletableFuture<List<byte[]>> claimed = claimNext();
                while (true) {
                    List<byte[]> reply = claimed.get();
                    boolean last = stopped;
                    if (!last) {
                        claimed = claimNext();
                    }
                    int count = reply.size() / 2;
                    acknowledged.get();
                    if (count > 0) {
                        acknowledged = call(
                                acknowledge,
                                RScript.ReturnType.LONG,
                                acknowledgeKeys,
                                reply.subList(0, count).toArray());
                        for (byte[] body : reply.subList(count, 2 * count)) {
                            arrivals.arrived(body);
                        }
                    } else {
                        LockSupport.parkNanos(1_000_000);
                    }
                    if (last) {
                        acknowledged.get();
                        return;
                    }
                }
            } catch (Throwable e) {
                failure = e;
            }
        }

        private CompletableFuture<List<byte[]>> claimNext() {
            return call(claim, RScript.ReturnType.LIST, claimKeys);
        }

        @Override
        public void close() throws Exception {
            stopped = true;
            join();
            if (failure != null) {
                throw new IllegalStateException("The consumer of the bare scripts failed", failure);
            }
        }
    }

    @Override
    public long remaining() {
        return redisson.getMap(messages(), ByteArrayCodec.INSTANCE).size();
    }

    @Override
    public void close() {}
}
