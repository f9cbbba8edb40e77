// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.GroupPage;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The calls to one partition that are about all of its messages. They change or read it in slices, and hold no state. */
public final class PartitionAdmin {

    private static final byte[] NOTHING = {};
    private static final byte[] NEWEST = "newest".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DEAD_LETTERS = "dead".getBytes(StandardCharsets.US_ASCII);

    private final Partition partition;
    private final QueueAddress address;
    private final RequestRouter router;
    private final UnbatchedCalls calls;

    public PartitionAdmin(Partition partition) {
        this.partition = partition;
        this.address = partition.address();
        this.router = partition.router();
        this.calls = partition.calls();
    }

    String name() {
        return address.name();
    }

    /** Pauses or resumes the queue, or a group, as {@link PauseCommand} says. */
    public Submission<Boolean> pause(String group, ChangeAction action, long micros) {
        return router.submit(new PauseCommand(address, group, action, micros));
    }

    public CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit) {
        return durable(BulkChange.of(this, which, limit, stats -> {
            // One microsecond apart, so that they stay in order.
            AtomicLong time = new AtomicLong(stats.timeMicros());
            return message -> message.dueMicros() <= stats.timeMicros()
                    ? CompletableFuture.completedFuture(false)
                    : partition
                            .change(message.id(), ChangeAction.PROMOTE, time.getAndIncrement())
                            .result()
                            .thenApply(result -> result.dueMicros() > 0);
        }));
    }

    /**
     * Waits for replicas or the disk once more at the end. A bulk change that finds nothing left to change has sent nothing that
     * waits, and the one before it may have failed in its wait.
     */
    public CompletableFuture<Long> durable(CompletableFuture<Long> change) {
        return change.thenCompose(
                count -> router.awaitDurable(address, "the changes of " + count + " messages were made", count));
    }

    public CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit) {
        return durable(BulkChange.of(this, which, limit, stats -> message -> partition.cancelDelayed(message.id())));
    }

    /** A page of a group. */
    public CompletableFuture<GroupPage> group(String name, String cursor, int limit) {
        byte[] behind = cursor == null ? NOTHING : PageCursor.parse('g', cursor).id();
        return calls.untilAnswered(
                        address, LuaScript.GROUP, name.getBytes(StandardCharsets.UTF_8), behind, Digits.of(limit))
                .thenApply(reply -> MessageRows.group((List<?>) reply));
    }

    /** The groups that have due parked messages, and about how many, by a sample of these messages. */
    public CompletableFuture<Map<String, Double>> parkedGroups() {
        return calls.untilAnswered(address, LuaScript.GROUP, NOTHING, NOTHING, Digits.of(QueueAdmin.MAX_PAGE))
                .thenApply(reply -> {
                    List<?> rows = (List<?>) reply;
                    double parked = LittleEndian.of((byte[]) rows.get(0)).getDouble();
                    return rows.stream()
                            .skip(1)
                            .collect(Collectors.groupingBy(
                                    name -> new String((byte[]) name, StandardCharsets.UTF_8),
                                    Collectors.summingDouble(name -> parked / (rows.size() - 1))));
                });
    }

    /** Sets the limits. If they were others, or a walk has not ended, brings the groups in line with them. */
    public CompletableFuture<QueueLimits> limit(QueueLimits limits) {
        ChangeAction places = limits.strict() ? ChangeAction.LIMIT_STRICT : ChangeAction.LIMIT_RELAXED;
        var groups = limit(places, limits.groupConcurrency());
        var rate = limit(ChangeAction.LIMIT_RATE, LimitCommand.number(limits.rate()));
        var groupRate = limit(ChangeAction.LIMIT_GROUP_RATE, LimitCommand.number(limits.groupRate()));
        var queue = limit(ChangeAction.LIMIT_CONCURRENCY, limits.queueConcurrency());
        return CompletableFuture.allOf(groups, rate, groupRate, queue)
                .thenApply(done -> new QueueLimits(
                        (int) groups.join().number(),
                        groups.join().outcome() % 2 == 0,
                        rate.join().rate(),
                        groupRate.join().rate(),
                        (int) queue.join().number()))
                .thenCompose(before -> before.equals(limits) && groups.join().outcome() < 2
                        ? CompletableFuture.completedFuture(before)
                        : RepairScan.overGroups(this::repair).thenApply(done -> before));
    }

    private CompletableFuture<LimitCommand.Before> limit(ChangeAction action, long number) {
        return LimitCommand.send(router, address, action, number);
    }

    public CompletableFuture<Long> redriveAll(Predicate<MessageInfo> which, long limit) {
        return durable(BulkChange.of(
                new PartitionAdmin(partition.deadLetters()),
                which,
                limit,
                stats -> message -> partition
                        .redrive(message.id(), null)
                        .result()
                        .thenApply(outcome -> outcome == RedriveOutcome.REDRIVEN)));
    }

    /**
     * The dead letters of a message, the newest first.
     *
     * @param time the time of the one to look for, in digits; empty for all
     */
    public CompletableFuture<List<DeadLetterId>> letters(String messageId, String time) {
        return calls.untilAnswered(
                        address,
                        LuaScript.DEAD_LETTERS,
                        messageId.getBytes(StandardCharsets.UTF_8),
                        time.getBytes(StandardCharsets.US_ASCII))
                .thenApply(reply -> ((List<?>) reply)
                        .stream()
                                .map(digits -> new DeadLetterId(
                                        messageId, new String((byte[]) digits, StandardCharsets.US_ASCII)))
                                .toList());
    }

    /** The next delayed messages. */
    CompletableFuture<MessagePage> page(String cursor, int limit) {
        char list = partition.isDeadLetters() ? 'D' : 'd';
        PageCursor behind = PageCursor.of(list, cursor);
        return rows(MessageState.DELAYED, behind, limit)
                .thenApply(rows -> MessageRows.page(rows, MessageState.DELAYED, limit, list, false));
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

    /** A slice that was cut off is not repeated, so a call that may be repeated first waits until Redis can be reached. */
    public CompletableFuture<CheckResult> check() {
        return page(null, 1)
                .thenCompose(reached -> RepairScan.of(
                        (partition.isDeadLetters() ? "dead letters of " : "") + address,
                        partition.isDeadLetters(),
                        this::repair))
                .thenCompose(found -> router.awaitDurable(
                        address, "a check made " + found.restored() + " messages delayed again", found));
    }

    private CompletableFuture<?> repair(byte[] walk, byte[] cursor) {
        byte[] base = address.keys().base().getBytes(StandardCharsets.UTF_8);
        byte[] kind = partition.isDeadLetters() ? DEAD_LETTERS : NOTHING;
        if (walk == RepairScan.GROUPS) {
            return calls.untilAnswered(address, LuaScript.REPAIR, walk, cursor, base, kind);
        }
        return RepairScan.isBegin(cursor)
                ? calls.untilExecuted(address, LuaScript.REPAIR, walk, cursor, base, kind)
                // A cursor of the others is of one server: another one would go on with it anywhere.
                : calls.once(address, LuaScript.REPAIR, walk, cursor, base, kind);
    }

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
                    (long) reply.getDouble(),
                    (long) reply.getDouble(),
                    (long) reply.getDouble());
        });
    }

    public CompletableFuture<Outlook> outlook(List<Long> bounds) {
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

    /** The consumers of this queue or partition, as {@code consumers.lua} answers them. */
    public CompletableFuture<List<?>> consumerRows() {
        return calls.once(address, LuaScript.CONSUMERS).thenApply(reply -> (List<?>) reply);
    }

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
}
