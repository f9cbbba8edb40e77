// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A queue of a client: turns calls into requests of the client's lanes. Holds nothing itself. */
final class RedisDelayQueue implements DelayQueue, Settlements {

    private static final byte[] NO_CLAIM = {};
    private static final byte[][] SCHEDULE_FLAGS = flags();

    private final DelayQueueClient client;
    private final String name;
    private final QueueKeys keys;

    RedisDelayQueue(DelayQueueClient client, String name, QueueKeys keys) {
        this.client = client;
        this.name = name;
        this.keys = keys;
    }

    private static byte[][] flags() {
        byte[][] all = new byte[2 * DuplicatePolicy.values().length][];
        for (DuplicatePolicy policy : DuplicatePolicy.values()) {
            char letter =
                    switch (policy) {
                        case REJECT -> 'r';
                        case IGNORE -> 'i';
                        case REPLACE -> 'p';
                    };
            all[2 * policy.ordinal()] = new byte[] {'a', (byte) letter};
            all[2 * policy.ordinal() + 1] = new byte[] {'d', (byte) letter};
        }
        return all;
    }

    @Override
    public String name() {
        return name;
    }

    QueueKeys keys() {
        return keys;
    }

    @Override
    public Submission<ScheduleResult> schedule(ScheduleRequest message) {
        String id = message.id() == null ? client.nextId() : message.id();
        byte[] idBytes = id.getBytes(StandardCharsets.UTF_8);
        DueTime due = message.due();
        Object[] arguments = {
            idBytes,
            SCHEDULE_FLAGS[2 * message.onDuplicate().ordinal() + (due.relative() ? 1 : 0)],
            Lane.ascii(due.micros()),
            message.supersedes() == null ? NO_CLAIM : message.supersedes().bytes(),
            message.body()
        };
        Request.Reply<ScheduleResult> reply = (time, outcome, micros) -> switch (outcome) {
            case 1 -> new ScheduleResult(id, ScheduleOutcome.SCHEDULED, time, micros);
            case 2 -> new ScheduleResult(id, ScheduleOutcome.REPLACED, time, micros);
            case 3 -> new ScheduleResult(id, ScheduleOutcome.SUPERSEDED, time, micros);
            case 4, 5 -> {
                if (message.onDuplicate() == DuplicatePolicy.IGNORE) {
                    yield new ScheduleResult(id, ScheduleOutcome.IGNORED, time, micros);
                }
                throw new DuplicateMessageException(
                        name, id, outcome == 5 ? MessageState.LEASED : MessageState.DELAYED);
            }
            case 6 -> throw beyondRange(due);
            default -> throw unknown(LuaScript.SCHEDULE, outcome);
        };
        return client.submit(
                this, LuaScript.SCHEDULE, id, arguments, idBytes.length + message.body().length + 40, reply);
    }

    @Override
    public Submission<ChangeResult> cancel(String id) {
        byte[] idBytes = ScheduleRequest.checkId(id);
        Object[] arguments = {idBytes, new byte[] {'c'}, Lane.ascii(0)};
        return client.submit(
                this,
                LuaScript.CHANGE,
                id,
                arguments,
                idBytes.length + 20,
                (time, outcome, micros) -> new ChangeResult(id, stateOf(outcome), 0));
    }

    @Override
    public Submission<ChangeResult> reschedule(String id, DueTime due) {
        byte[] idBytes = ScheduleRequest.checkId(id);
        Object[] arguments = {idBytes, new byte[] {(byte) (due.relative() ? 'd' : 'a')}, Lane.ascii(due.micros())};
        return client.submit(this, LuaScript.CHANGE, id, arguments, idBytes.length + 20, (time, outcome, micros) -> {
            if (outcome == 3) {
                throw beyondRange(due);
            }
            return new ChangeResult(id, stateOf(outcome), micros);
        });
    }

    private static IllegalArgumentException beyondRange(DueTime due) {
        return new IllegalArgumentException((due.relative() ? "delay" : "delivery time") + " of " + due.micros()
                + " microseconds ends beyond the year 2255: a due time must be below 2^53 microseconds");
    }

    private static MessageState stateOf(int outcome) {
        return switch (outcome) {
            case 0 -> MessageState.NONE;
            case 1 -> MessageState.DELAYED;
            case 2 -> MessageState.LEASED;
            default -> throw unknown(LuaScript.CHANGE, outcome);
        };
    }

    private static DelayQueueException unknown(LuaScript script, int outcome) {
        return new DelayQueueException("script " + script + " answered " + outcome);
    }

    @Override
    public Submission<Settlement> settle(ClaimedDelivery delivery, char action, long micros, byte[] failure) {
        byte[] id = delivery.idBytes();
        Object[] arguments = {id, delivery.claimId().bytes(), new byte[] {(byte) action}, Lane.ascii(micros), failure};
        return client.submit(
                this,
                LuaScript.SETTLE,
                delivery.id(),
                arguments,
                id.length + failure.length + 40,
                (time, outcome, due) -> settlementOf(LuaScript.SETTLE, outcome));
    }

    @Override
    public Submission<Settlement> extend(ClaimedDelivery delivery, long leaseMicros) {
        byte[] id = delivery.idBytes();
        Object[] arguments = {id, delivery.claimId().bytes(), Lane.ascii(leaseMicros)};
        return client.submit(
                this,
                LuaScript.EXTEND,
                delivery.id(),
                arguments,
                id.length + 40,
                (time, outcome, end) -> settlementOf(LuaScript.EXTEND, outcome));
    }

    private static Settlement settlementOf(LuaScript script, int outcome) {
        return switch (outcome) {
            case 1 -> Settlement.DONE;
            case 2 -> Settlement.STALE_GONE;
            case 3 -> Settlement.STALE_HELD;
            default -> throw unknown(script, outcome);
        };
    }

    @Override
    public Timers timers() {
        return client.timers();
    }

    @Override
    public LeaseKeeper leases() {
        return client.leases();
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return client.read(this, LuaScript.STATS).thenApply(bytes -> {
            ByteBuffer reply = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            return new QueueStats(
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble());
        });
    }

    @Override
    public CompletableFuture<ServerInfo> serverInfo() {
        return client.read(this, LuaScript.SERVER).thenApply(bytes -> {
            String info = new String(bytes, StandardCharsets.UTF_8);
            String valkey = field(info, "valkey_version");
            return new ServerInfo(
                    valkey == null ? "Redis" : "Valkey",
                    valkey != null ? valkey : known(field(info, "redis_version")),
                    known(field(info, "maxmemory_policy")),
                    "1".equals(field(info, "aof_enabled")));
        });
    }

    private static String known(String value) {
        return value == null ? "unknown" : value;
    }

    private static String field(String info, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + ":([^\\r\\n]*)").matcher(info);
        return matcher.find() ? matcher.group(1).trim() : null;
    }

    @Override
    public DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler) {
        return client.consume(this, options, executor, handler);
    }

    @Override
    public DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener) {
        return new SingleReceiver(client, this, options, listener);
    }
}
