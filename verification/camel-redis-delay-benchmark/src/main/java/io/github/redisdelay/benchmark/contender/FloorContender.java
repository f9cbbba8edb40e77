// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.queue.DueTime;
import java.nio.ByteBuffer;
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
 * {@link BareScripts} by a client that does nothing else. Two calls are under way at a time, as those of the queue
 * layer.
 */
public final class FloorContender implements Contender {

    public static final int CALLS = 2;
    static final int MESSAGES_PER_CALL = 256;

    // KEYS messages, delayed  ARGV id, due time and body of each message
    private static final String SCHEDULE = """
            for i = 1, #ARGV, 3 do
              redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
              redis.call('ZADD', KEYS[2], ARGV[i + 1], ARGV[i])
            end
            return #ARGV / 3
            """;

    // KEYS messages, delayed, sessions, config  ARGV session, number, then id, delay and body of each message
    private static final String SCHEDULE_ONCE = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local sequence = tonumber(ARGV[2])
            local session = redis.call('HGET', KEYS[3], ARGV[1])
            if session then
              local last = struct.unpack('<d', session)
              if last > sequence then
                error('superseded')
              end
              if last == sequence then
                return string.sub(session, 9)
              end
            end
            local config = redis.call('HMGET', KEYS[4], 'format', 'priorities', 'paused', 'partitions')
            local first = redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')
            local reply = struct.pack('<d', now)
            for i = 3, #ARGV, 3 do
              local due = now + ARGV[i + 1]
              local new = redis.call('HSETNX', KEYS[1], ARGV[i], struct.pack('<dd', now, due) .. ARGV[i + 2])
              if new == 1 then
                redis.call('ZADD', KEYS[2], due, ARGV[i])
              end
              reply = reply .. struct.pack('<Bd', new, due)
            end
            redis.call('HSET', KEYS[3], ARGV[1], struct.pack('<d', sequence) .. reply)
            return reply
            """;

    // KEYS state  A field that is too large for a list: the hash is a table from the beginning, and stays one.
    static final String MAKE_TABLE = "return redis.call('HSET', KEYS[1], '', string.rep(' ', 65))";

    private static final int CLAIM_ID_BYTES = 16;

    /** Ids of one length, all different: contenders may share a queue. */
    private static final AtomicLong IDS = new AtomicLong(1L << 56);

    private static final byte[] SCHEDULES_SESSION = ascii("session-store-1");
    private static final byte[] CLAIMS_SESSION = ascii("session-claims-1");
    private static final byte[] ACKNOWLEDGEMENTS_SESSION = ascii("session-finish-1");

    private final BareScripts scripts;
    private final RScript script;
    private final String schedule;
    private final String scheduleOnce;
    private final String claim;
    private final String acknowledge;
    private final List<Object> scheduleKeys;
    private final List<Object> scheduleOnceKeys;
    private final List<Object> claimKeys;
    private final List<Object> acknowledgeKeys;
    private final RedissonClient redisson;
    private final String name;
    /** Of the last call that has a session. One call at a time is under way, which guards it. */
    private long scheduleNumber;

    public FloorContender(RedissonClient redisson, String name, BareScripts scripts) {
        this.redisson = redisson;
        this.name = name;
        this.scripts = scripts;
        script = redisson.getScript(ByteArrayCodec.INSTANCE);
        schedule = script.scriptLoad(SCHEDULE);
        scheduleOnce = script.scriptLoad(SCHEDULE_ONCE);
        claim = script.scriptLoad(scripts.claim);
        acknowledge = script.scriptLoad(scripts.acknowledge);
        String delayed = name + ":delayed";
        String leased = name + ":leased";
        String sessions = name + ":sessions";
        scheduleKeys = List.of(messages(), delayed);
        scheduleOnceKeys = List.of(messages(), delayed, sessions, name + ":config");
        claimKeys =
                List.<Object>of(messages(), delayed, leased, state(), sessions).subList(0, scripts.claimKeys);
        acknowledgeKeys = List.<Object>of(messages(), leased, state(), sessions).subList(0, scripts.acknowledgeKeys);
    }

    private String messages() {
        return name + ":messages";
    }

    private String state() {
        return name + ":state";
    }

    @Override
    public String subject() {
        return scripts.subject;
    }

    @Override
    public void schedule(Message message) throws Exception {
        send(List.of(message)).get();
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        List<Message> messages = new ArrayList<>(bodies.size());
        for (byte[] body : bodies) {
            messages.add(new Message(body, due, null));
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

    /** Schedules messages in one call. */
    public CompletableFuture<Object> send(List<Message> messages) {
        Object[] arguments = new Object[3 * messages.size()];
        addMessages(arguments, 0, messages, System.currentTimeMillis() * 1000);
        return call(schedule, RScript.ReturnType.LONG, scheduleKeys, arguments);
    }

    /** The same for who has one call at a time under way: so it can have a session, if the scripts know any. */
    CompletableFuture<Object> sendAfterTheLast(List<Message> messages) {
        if (!scripts.isRepeatable()) {
            return send(messages);
        }
        Object[] arguments = new Object[2 + 3 * messages.size()];
        arguments[0] = SCHEDULES_SESSION;
        arguments[1] = ascii(Long.toString(++scheduleNumber));
        addMessages(arguments, 2, messages, 0);
        return call(scheduleOnce, RScript.ReturnType.VALUE, scheduleOnceKeys, arguments);
    }

    private static void addMessages(Object[] arguments, int at, List<Message> messages, long now) {
        int i = at;
        for (Message message : messages) {
            DueTime due = message.due();
            arguments[i++] = ascii(Long.toHexString(IDS.getAndIncrement()));
            arguments[i++] = ascii(Long.toString(due.relative() ? now + due.micros() : due.micros()));
            arguments[i++] = message.body();
        }
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
        if (scripts.isFenced()) {
            script.eval(RScript.Mode.READ_WRITE, MAKE_TABLE, RScript.ReturnType.LONG, List.of(state()));
        }
        Taker taker = new Taker(arrivals);
        taker.start();
        return taker;
    }

    /** While messages are acknowledged, the next ones are claimed. */
    private final class Taker extends Thread implements Consumption {

        private final Arrivals arrivals;
        /** Of the last call. This thread only. */
        private long number;

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
            List<Object> arguments = new ArrayList<>();
            if (scripts.isFenced()) {
                arguments.add(claimId);
            }
            addSession(arguments, CLAIMS_SESSION);
            return call(claim, RScript.ReturnType.LIST, claimKeys, arguments.toArray());
        }

        private CompletableFuture<Object> acknowledge(List<byte[]> ids, byte[] claimId) {
            List<Object> arguments = new ArrayList<>(2 * ids.size() + 2);
            addSession(arguments, ACKNOWLEDGEMENTS_SESSION);
            for (byte[] id : ids) {
                arguments.add(id);
                if (scripts.isFenced()) {
                    arguments.add(claimId);
                }
            }
            return call(acknowledge, RScript.ReturnType.VALUE, acknowledgeKeys, arguments.toArray());
        }

        private void addSession(List<Object> arguments, byte[] session) {
            if (scripts.isRepeatable()) {
                arguments.add(session);
                arguments.add(ascii(Long.toString(++number)));
            }
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
