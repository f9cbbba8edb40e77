// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumedPartition;
import io.github.redisdelay.queue.internal.consume.ConsumerStarter;
import io.github.redisdelay.queue.internal.consume.DeliverySettler;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.ConsumerRows;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A queue of a client, or one partition of a queue: makes requests of calls, and hands them to the router. It holds no state.
 */
public final class RedisDelayQueue implements DelayQueue, DeliverySettler {

    private static final byte[] NOTHING = {};
    private static final byte[] NEWEST = "newest".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DEAD_LETTERS = "dead".getBytes(StandardCharsets.US_ASCII);
    /** The most dead letters that {@code trim.lua} drops in one call. */
    private static final int TRIM_SLICE = 100;

    private final QueueAddress address;
    private final RequestRouter router;
    private final UnbatchedCalls calls;
    private final MessageIdGenerator ids;
    private final ConsumerStarter starter;

    public RedisDelayQueue(
            QueueAddress address,
            RequestRouter router,
            UnbatchedCalls calls,
            MessageIdGenerator ids,
            ConsumerStarter starter) {
        this.address = address;
        this.router = router;
        this.calls = calls;
        this.ids = ids;
        this.starter = starter;
    }

    @Override
    public String name() {
        return address.name();
    }

    @Override
    public String server() {
        return router.server();
    }

    @Override
    public boolean isPartOf(DelayQueue other) {
        return other instanceof Partitioned whole
                ? whole.partitions().stream().anyMatch(this::isSameAs)
                : other instanceof RedisDelayQueue that && isSameAs(that);
    }

    private boolean isSameAs(RedisDelayQueue other) {
        return address.equals(other.address) && router.isConnectedAs(other.router);
    }

    @Override
    public boolean isDeadLetters() {
        return address.isDeadLetters();
    }

    @Override
    public RedisDelayQueue deadLetters() {
        if (isDeadLetters()) {
            throw new IllegalStateException("queue '" + name() + "': dead letters have no dead letters of their own");
        }
        return new RedisDelayQueue(address.deadLetters(), router, calls, ids, starter);
    }

    /** The bytes of an id; those of dead letters are longer. */
    private byte[] idBytes(String id) {
        return ScheduleRequest.checkId(
                id, isDeadLetters() ? ScheduleRequest.MAX_DEAD_LETTER_ID_BYTES : ScheduleRequest.MAX_ID_BYTES);
    }

    public QueueAddress address() {
        return address;
    }

    public RequestRouter router() {
        return router;
    }

    public UnbatchedCalls calls() {
        return calls;
    }

    public MessageIdGenerator ids() {
        return ids;
    }

    @Override
    public <T> T together(Supplier<T> requests) {
        return router.together(requests);
    }

    @Override
    public Submission<ScheduleResult> schedule(ScheduleRequest message) {
        checkNoDeadLetters("schedule");
        String id = message.id() == null ? ids.next() : message.id();
        return router.submit(new ScheduleCommand(address, message, id));
    }

    @Override
    public Submission<ChangeResult> cancel(String id) {
        return change(id, ChangeAction.CANCEL, 0);
    }

    /**
     * Removes a message that waits; one that is being delivered is left alone.
     *
     * @return true if it waited
     */
    public CompletableFuture<Boolean> cancelWaiting(String id) {
        return change(id, ChangeAction.CANCEL_DELAYED, 0)
                .result()
                .thenApply(result -> result.previousState() == MessageState.DELAYED);
    }

    @Override
    public Submission<ChangeResult> reschedule(String id, DueTime due) {
        return change(id, due.relative() ? ChangeAction.RESCHEDULE_AFTER : ChangeAction.RESCHEDULE_AT, due.micros());
    }

    @Override
    public Submission<ChangeResult> promote(String id) {
        return change(id, ChangeAction.PROMOTE, 0);
    }

    /**
     * Changes a message.
     *
     * @param micros the time or the delay that goes with it
     */
    private Submission<ChangeResult> change(String id, ChangeAction action, long micros) {
        return router.submit(new ChangeCommand(address, id, idBytes(id), action, micros));
    }

    @Override
    public Submission<Boolean> pause() {
        return router.submit(new PauseCommand(address, true));
    }

    @Override
    public Submission<Boolean> resume() {
        return router.submit(new PauseCommand(address, false));
    }

    @Override
    public Submission<RedriveOutcome> redrive(String deadLetterId, ClaimId held) {
        checkNoDeadLetters("redrive");
        byte[] idBytes = ScheduleRequest.checkId(deadLetterId, ScheduleRequest.MAX_DEAD_LETTER_ID_BYTES);
        return router.submit(new RedriveCommand(address, deadLetterId, idBytes, held));
    }

    public void checkNoDeadLetters(String operation) {
        if (isDeadLetters()) {
            throw new IllegalStateException(
                    "queue '" + name() + "': " + operation + " is a call to the queue, not to its dead letters");
        }
    }

    @Override
    public CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit) {
        return durable(BulkChange.of(this, which, limit, stats -> {
            // One microsecond apart, so that they stay in order.
            AtomicLong time = new AtomicLong(stats.timeMicros());
            return message -> message.dueMicros() <= stats.timeMicros()
                    ? CompletableFuture.completedFuture(false)
                    : change(message.id(), ChangeAction.PROMOTE, time.getAndIncrement())
                            .result()
                            .thenApply(result -> result.dueMicros() > 0);
        }));
    }

    /**
     * Waits for replicas or the disk once more at the end. A bulk change that finds nothing left to change has sent nothing that
     * waits, and the one before it may have failed in its wait.
     */
    private CompletableFuture<Long> durable(CompletableFuture<Long> change) {
        return change.thenCompose(
                count -> router.awaitDurable(address, "the changes of " + count + " messages were made", count));
    }

    @Override
    public CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit) {
        return durable(BulkChange.of(this, which, limit, stats -> message -> cancelWaiting(message.id())));
    }

    @Override
    public CompletableFuture<Long> redriveAll(Predicate<MessageInfo> which, long limit) {
        checkNoDeadLetters("redriveAll");
        return durable(BulkChange.of(
                deadLetters(),
                which,
                limit,
                stats -> message ->
                        redrive(message.id()).result().thenApply(outcome -> outcome == RedriveOutcome.REDRIVEN)));
    }

    @Override
    public CompletableFuture<Long> trimDeadLetters(Duration retention, long maximum) {
        checkNoDeadLetters("trimDeadLetters");
        checkLimits(retention, maximum);
        return trim(DueTime.toMicros(retention), maximum, 0);
    }

    public static void checkLimits(Duration retention, long maximum) {
        if (retention.isNegative() || maximum < 0) {
            throw new IllegalArgumentException(
                    "retention " + retention + " and maximum " + maximum + " must not be negative");
        }
    }

    private CompletableFuture<Long> trim(long retentionMicros, long maximum, long before) {
        return calls.untilAnswered(address, LuaScript.TRIM, Digits.of(retentionMicros), Digits.of(maximum))
                .thenCompose(reply -> {
                    int dropped = (int) LittleEndian.of((byte[]) reply).getDouble();
                    long all = before + dropped;
                    return dropped < TRIM_SLICE
                            ? CompletableFuture.completedFuture(all)
                            : trim(retentionMicros, maximum, all);
                });
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> get(String id) {
        return calls.untilAnswered(address, LuaScript.GET, (Object) idBytes(id))
                .thenApply(reply -> MessageRows.get((List<?>) reply));
    }

    @Override
    public CompletableFuture<Optional<Long>> scheduledMicros(String id) {
        return get(id).thenApply(found -> found.map(StoredMessage::scheduledMicros));
    }

    @Override
    public CompletableFuture<List<DeadLetterId>> deadLettersOf(String id) {
        checkNoDeadLetters("deadLettersOf");
        return deadLettersOf(ScheduleRequest.requireId(id, true), this, this);
    }

    /**
     * The dead letter of this id, or else those of the message of this id, which may look like a dead letter's.
     *
     * @param ofLetter the queue, or the partition, of the dead letter
     * @param ofMessage the queue, or the partition, of the message
     */
    public static CompletableFuture<List<DeadLetterId>> deadLettersOf(
            String id, RedisDelayQueue ofLetter, RedisDelayQueue ofMessage) {
        DeadLetterId one = DeadLetterId.parse(id);
        return one == null
                ? ofMessage.letters(id, NOTHING)
                : ofLetter.letters(one.messageId(), one.time().getBytes(StandardCharsets.US_ASCII))
                        .thenCompose(found -> found.isEmpty()
                                ? ofMessage.letters(id, NOTHING)
                                : CompletableFuture.completedFuture(found));
    }

    /**
     * The dead letters of a message, the newest first.
     *
     * @param time the time of the one to look for, in digits; nothing for all
     */
    private CompletableFuture<List<DeadLetterId>> letters(String messageId, byte[] time) {
        return calls.untilAnswered(address, LuaScript.DEAD_LETTERS, messageId.getBytes(StandardCharsets.UTF_8), time)
                .thenApply(reply -> ((List<?>) reply)
                        .stream()
                                .map(digits -> new DeadLetterId(
                                        messageId, new String((byte[]) digits, StandardCharsets.US_ASCII)))
                                .toList());
    }

    @Override
    public CompletableFuture<MessagePage> browse(MessageState state, PageStart from, int limit) {
        char list = list(state, limit, isDeadLetters());
        PageCursor behind = PageCursor.of(list, from);
        return rows(state, behind, limit)
                .thenApply(rows -> MessageRows.page(rows, state, limit, list, behind.newest()));
    }

    /**
     * Checks what is asked of {@link #browse}.
     *
     * @return the letter of the list, for cursors
     */
    public static char list(MessageState state, int limit, boolean deadLetters) {
        if (state != MessageState.DELAYED && state != MessageState.LEASED) {
            throw new IllegalArgumentException(
                    "messages in state " + state + " cannot be listed: only DELAYED or LEASED ones");
        }
        if (limit < 1 || limit > MAX_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ": it must be from 1 to " + MAX_PAGE);
        }
        char letter = state == MessageState.LEASED ? 'l' : 'd';
        return deadLetters ? Character.toUpperCase(letter) : letter;
    }

    /** The messages behind a position, as {@code browse.lua} answers them. */
    public CompletableFuture<List<?>> rows(MessageState state, PageCursor behind, int limit) {
        return calls.untilAnswered(
                        address,
                        LuaScript.BROWSE,
                        WireWord.bytes(state),
                        Digits.of(limit),
                        behind.score().getBytes(StandardCharsets.US_ASCII),
                        behind.id(),
                        behind.newest() ? NEWEST : NOTHING)
                .thenApply(reply -> (List<?>) reply);
    }

    @Override
    public Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement settlement) {
        return router.submit(SettleCommand.of(address, delivery, settlement));
    }

    @Override
    public Submission<SettleResult> extend(ClaimedDelivery delivery, long micros) {
        return router.submit(SettleCommand.extension(address, delivery, micros));
    }

    @Override
    public CompletableFuture<CheckResult> check() {
        byte[] base = address.keys().base().getBytes(StandardCharsets.UTF_8);
        byte[] kind = isDeadLetters() ? DEAD_LETTERS : NOTHING;
        return RepairScan.of(
                        (isDeadLetters() ? "dead letters of " : "") + address,
                        isDeadLetters(),
                        (walk, cursor) -> RepairScan.isBegin(cursor)
                                ? calls.untilExecuted(address, LuaScript.REPAIR, walk, cursor, base, kind)
                                // A cursor is of one server: another one would go on with it anywhere.
                                : calls.once(address, LuaScript.REPAIR, walk, cursor, base, kind))
                .thenCompose(found -> router.awaitDurable(
                        address, "a check made " + found.restored() + " messages wait again", found));
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return calls.once(address, LuaScript.STATS).thenApply(bytes -> {
            ByteBuffer reply = LittleEndian.of((byte[]) bytes);
            return new QueueStats(
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (int) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble());
        });
    }

    @Override
    public CompletableFuture<Outlook> outlook(List<Long> boundsMicros) {
        List<Long> bounds = List.copyOf(boundsMicros);
        checkBounds(bounds);
        return calls.untilAnswered(
                        address,
                        LuaScript.OUTLOOK,
                        bounds.stream().map(Digits::of).toArray())
                .thenApply(bytes -> {
                    ByteBuffer reply = LittleEndian.of((byte[]) bytes);
                    long time = (long) reply.getDouble();
                    long before = (long) reply.getDouble();
                    List<Long> counts = new ArrayList<>(bounds.size() - 1);
                    while (reply.remaining() > Double.BYTES) {
                        counts.add((long) reply.getDouble());
                    }
                    return new Outlook(time, bounds, counts, before, (long) reply.getDouble());
                });
    }

    /** Checks what is asked of {@link #outlook}. */
    public static void checkBounds(List<Long> bounds) {
        int most = Outlook.MAX_STEPS + 1;
        if (bounds.size() < 2 || bounds.size() > most) {
            throw new IllegalArgumentException(
                    "an outlook of " + bounds.size() + " bounds: there must be from 2 to " + most);
        }
        long least = 0;
        for (long bound : bounds) {
            if (bound < least || bound > DueTime.MAX_MICROS) {
                throw new IllegalArgumentException("bound " + bound + " of an outlook: it must be from " + least
                        + " to " + DueTime.MAX_MICROS + " microseconds since the epoch, later than the bound before");
            }
            least = bound + 1;
        }
    }

    @Override
    public CompletableFuture<List<ConsumerInfo>> consumers() {
        return consumerRows().thenApply(rows -> ConsumerRows.merge(List.of(rows)));
    }

    /** The consumers of this queue or partition, as {@code consumers.lua} answers them. */
    public CompletableFuture<List<?>> consumerRows() {
        return calls.once(address, LuaScript.CONSUMERS).thenApply(reply -> (List<?>) reply);
    }

    @Override
    public CompletableFuture<ServerInfo> serverInfo() {
        return calls.once(address, LuaScript.SERVER).thenApply(bytes -> {
            String info = new String((byte[]) bytes, StandardCharsets.UTF_8);
            String valkey = field(info, "valkey_version");
            return new ServerInfo(
                    valkey == null ? "Redis" : "Valkey",
                    valkey != null ? valkey : Objects.requireNonNullElse(field(info, "redis_version"), "unknown"),
                    Objects.requireNonNullElse(field(info, "maxmemory_policy"), "unknown"),
                    field(info, "aof_enabled") == null ? null : "1".equals(field(info, "aof_enabled")));
        });
    }

    private static String field(String info, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + ":([^\\r\\n]*)").matcher(info);
        return matcher.find() ? matcher.group(1).trim() : null;
    }

    @Override
    public DelayQueueConsumer consume(ConsumerOptions options, Executor executor, DeliveryHandler handler) {
        return starter.consume(List.of(consumed(CallGate.OPEN)), this::stats, options, executor, handler);
    }

    @Override
    public DelayQueueReceiver receiver(ConsumerOptions options, DeliveryHandler listener) {
        return starter.receiver(List.of(consumed(CallGate.OPEN)), options, listener);
    }

    /** @param gate lets the consumer's calls pass */
    public ConsumedPartition consumed(CallGate gate) {
        return new ConsumedPartition(address, this, gate);
    }
}
