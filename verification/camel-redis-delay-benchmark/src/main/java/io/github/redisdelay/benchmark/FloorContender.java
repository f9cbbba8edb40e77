// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.queue.DueTime;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * The least that Redis can be asked to do for a hash of bodies, a sorted set of due times and one of leases: scripts
 * without any check, and no record of a delivery. Two calls are under way at a time, as those of the queue layer.
 *
 * <p>Fenced, a claim writes a state record for each message, with the claim's id, and an acknowledgement is good only for
 * messages whose records have it: what the layout costs if a message is to be acknowledged by nobody but who holds it.
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

    // KEYS messages, delayed, leased, state  ARGV claim id  Reply ids, bodies
    private static final String FENCED_CLAIM = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'WITHSCORES', 'LIMIT', 0, 256)
            if #due == 0 then
              return due
            end
            local expires = string.format('%.0f', now + 30000000)
            local head = struct.pack('<BBBBI4c16', 1, 0, 0, 0, 1, ARGV[1])
            local ids, leases, records = {}, {}, {}
            for i = 1, #due / 2 do
              local id, time = due[2 * i - 1], tonumber(due[2 * i])
              ids[i] = id
              leases[2 * i - 1], leases[2 * i] = expires, id
              records[2 * i - 1], records[2 * i] = id, head .. struct.pack('<dd', time, time)
            end
            redis.call('ZREM', KEYS[2], unpack(ids))
            redis.call('ZADD', KEYS[3], unpack(leases))
            redis.call('HSET', KEYS[4], unpack(records))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            local count = #ids
            for i = 1, count do
              ids[count + i] = bodies[i]
            end
            return ids
            """;

    // KEYS messages, leased, state  ARGV id and claim id of each message: those of a call may be of several claims
    private static final String FENCED_ACKNOWLEDGE = """
            local ids = {}
            for i = 1, #ARGV / 2 do
              ids[i] = ARGV[2 * i - 1]
            end
            local records = redis.call('HMGET', KEYS[3], unpack(ids))
            local held = {}
            for i = 1, #ids do
              if records[i] and string.sub(records[i], 9, 24) == ARGV[2 * i] then
                held[#held + 1] = ids[i]
              end
            end
            if #held == 0 then
              return 0
            end
            redis.call('ZREM', KEYS[2], unpack(held))
            redis.call('HDEL', KEYS[3], unpack(held))
            return redis.call('HDEL', KEYS[1], unpack(held))
            """;

    // KEYS state  A field that is too large for a list: the hash is a table from the beginning, and stays one.
    private static final String MAKE_TABLE = "return redis.call('HSET', KEYS[1], '', string.rep(' ', 65))";

    private static final int CLAIM_ID_BYTES = 16;

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
    private final boolean fenced;

    FloorContender(RedissonClient redisson, String name, boolean fenced) {
        this.redisson = redisson;
        this.name = name;
        this.fenced = fenced;
        script = redisson.getScript(ByteArrayCodec.INSTANCE);
        schedule = script.scriptLoad(SCHEDULE);
        claim = script.scriptLoad(fenced ? FENCED_CLAIM : CLAIM);
        acknowledge = script.scriptLoad(fenced ? FENCED_ACKNOWLEDGE : ACKNOWLEDGE);
        String messages = messages();
        String delayed = name + ":delayed";
        String leased = name + ":leased";
        scheduleKeys = List.of(messages, delayed);
        claimKeys = fenced ? List.of(messages, delayed, leased, state()) : List.of(messages, delayed, leased);
        acknowledgeKeys = fenced ? List.of(messages, leased, state()) : List.of(messages, leased);
    }

    private String messages() {
        return name + ":messages";
    }

    private String state() {
        return name + ":state";
    }

    @Override
    public String subject() {
        return fenced ? Subject.FENCED_FLOOR : Subject.FLOOR;
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
    public Consumption consume(Arrivals arrivals) throws Exception {
        if (fenced) {
            script.eval(RScript.Mode.READ_WRITE, MAKE_TABLE, RScript.ReturnType.LONG, List.of(state()));
        }
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
                byte[] claimId = nextClaimId();
                CompletableFuture<List<byte[]>> claimed = claim(claimId);
                while (true) {
                    List<byte[]> reply = claimed.get();
                    byte[] repliedTo = claimId;
                    boolean last = stopped;
                    if (!last) {
                        claimId = nextClaimId();
                        claimed = claim(claimId);
                    }
                    int count = reply.size() / 2;
                    acknowledged.get();
                    if (count > 0) {
                        acknowledged = acknowledge(reply.subList(0, count), repliedTo);
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

        private byte[] nextClaimId() {
            return ByteBuffer.allocate(CLAIM_ID_BYTES)
                    .putLong(IDS.getAndIncrement())
                    .array();
        }

        private CompletableFuture<List<byte[]>> claim(byte[] claimId) {
            Object[] arguments = fenced ? new Object[] {claimId} : new Object[0];
            return call(claim, RScript.ReturnType.LIST, claimKeys, arguments);
        }

        private CompletableFuture<Long> acknowledge(List<byte[]> ids, byte[] claimId) {
            Object[] arguments =
                    fenced ? ids.stream().flatMap(id -> Stream.of(id, claimId)).toArray() : ids.toArray();
            return call(acknowledge, RScript.ReturnType.LONG, acknowledgeKeys, arguments);
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
