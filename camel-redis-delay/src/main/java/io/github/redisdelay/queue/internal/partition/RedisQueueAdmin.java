// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ConsumerInfo;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ServerInfo;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.command.PartitionAdmin;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** The administration of a queue over its partitions. A handle that holds no state. */
final class RedisQueueAdmin implements QueueAdmin {

    private static final Comparator<ConsumerInfo> NEWEST_FIRST =
            Comparator.comparingLong(ConsumerInfo::lastSeenMicros).reversed().thenComparing(ConsumerInfo::name);

    private final Partitions partitions;

    RedisQueueAdmin(Partitions partitions) {
        this.partitions = partitions;
    }

    @Override
    public Submission<Boolean> pause() {
        return partitions.submitToAll(one -> new PartitionAdmin(one).pause("", ChangeAction.PAUSE, 0));
    }

    @Override
    public Submission<Boolean> resume() {
        return partitions.submitToAll(one -> new PartitionAdmin(one).pause("", ChangeAction.RESUME, 0));
    }

    /** Searches where the dead letter lies: in the partition of its message, whose id is another one. */
    @Override
    public CompletableFuture<List<DeadLetterId>> deadLettersOf(String id) {
        partitions.checkNoDeadLetters("deadLettersOf");
        ScheduleRequest.requireId(id, true);
        PartitionAdmin ofMessage = new PartitionAdmin(partitions.ofMessage(id, true));
        DeadLetterId one = DeadLetterId.parse(id);
        if (one == null) {
            return partitions.gate().ask(() -> ofMessage.letters(id, ""));
        }
        PartitionAdmin ofLetter = new PartitionAdmin(partitions.ofDeadLetter(id));
        // A message may have an id that looks like a dead letter's.
        return partitions.gate().ask(() -> ofLetter.letters(one.messageId(), one.time())
                .thenCompose(found ->
                        found.isEmpty() ? ofMessage.letters(id, "") : CompletableFuture.completedFuture(found)));
    }

    /**
     * Merges a page of the next messages of each partition. A cursor is a score and an id, behind which every partition goes
     * on.
     */
    @Override
    public CompletableFuture<MessagePage> list(MessageState state, PageStart from, int limit) {
        if (state != MessageState.DELAYED && state != MessageState.LEASED && state != MessageState.PARKED) {
            throw new IllegalArgumentException(
                    "messages in state " + state + " cannot be listed: only DELAYED, PARKED or LEASED ones");
        }
        if (limit < 1 || limit > MAX_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ": it must be from 1 to " + MAX_PAGE);
        }
        char letter = Character.toLowerCase(state.name().charAt(0));
        char list = partitions.first().isDeadLetters() ? Character.toUpperCase(letter) : letter;
        PageCursor behind = PageCursor.of(list, from);
        boolean newest = behind.newest();
        return partitions
                .askAll(one -> one.rows(state, behind, limit))
                .thenApply(
                        rows -> MessageRows.page(MessageRows.merge(rows, limit, newest), state, limit, list, newest));
    }

    @Override
    public CompletableFuture<Long> promoteAll(Predicate<MessageInfo> which, long limit, boolean schedules) {
        Predicate<MessageInfo> meant = which(which, schedules);
        return sum(limit, (one, left) -> one.promoteAll(meant, left));
    }

    @Override
    public CompletableFuture<Long> cancelAll(Predicate<MessageInfo> which, long limit, boolean schedules) {
        Predicate<MessageInfo> meant = which(which, schedules);
        return sum(limit, (one, left) -> one.cancelAll(meant, left));
    }

    /** A choice that spares recurring schedules, unless they are asked for. */
    private Predicate<MessageInfo> which(Predicate<MessageInfo> which, boolean schedules) {
        // A dead letter is no schedule, though it has the rule of one.
        return schedules || partitions.first().isDeadLetters() ? which : m -> m.rule() == null && which.test(m);
    }

    @Override
    public CompletableFuture<Long> redriveAll(Predicate<MessageInfo> which, long limit) {
        partitions.checkNoDeadLetters("redriveAll");
        return sum(limit, (one, left) -> one.redriveAll(which, left));
    }

    /** Changes one partition after the other, each with what is left of the limit, and counts the changes. */
    private CompletableFuture<Long> sum(long limit, BiFunction<PartitionAdmin, Long, CompletableFuture<Long>> change) {
        return partitions.inTurn(
                0L, (sum, one) -> change.apply(one, limit - sum).thenApply(count -> sum + count));
    }

    @Override
    public CompletableFuture<Long> trimDeadLetters(Duration retention, long maximum) {
        partitions.checkNoDeadLetters("trimDeadLetters");
        if (retention.isNegative() || maximum < 0) {
            throw new IllegalArgumentException(
                    "retention " + retention + " and maximum " + maximum + " must not be negative");
        }
        return dropOldest(
                new RedisQueueAdmin(partitions.deadLetters()),
                retention.isZero() ? Long.MAX_VALUE : DueTime.toMicros(retention),
                maximum == 0 ? Long.MAX_VALUE : maximum,
                PageStart.first(),
                0);
    }

    /**
     * Drops the oldest dead letters, a page at a time, as long as they are too old or there are too many. Returns how many,
     * also if it cannot go on: the next call meets that failure again.
     *
     * @param left how many before this page could not be dropped
     */
    private CompletableFuture<Long> dropOldest(
            QueueAdmin letters, long keptMicros, long maximum, PageStart from, int left) {
        return letters.stats().thenCompose(stats -> {
            if (stats.delayed() <= maximum && stats.oldestOverdueMicros() < keptMicros) {
                return CompletableFuture.completedFuture(0L);
            }
            // The count is read after the page, so what others drop in between lowers it.
            return letters.list(MessageState.DELAYED, from, MAX_PAGE)
                    .thenCompose(page -> letters.stats().thenCompose(now -> {
                        List<MessageInfo> oldest = page.messages();
                        var drops = IntStream.range(0, oldest.size())
                                .filter(i -> left + i < now.delayed() - maximum
                                        || now.timeMicros() - oldest.get(i).dueMicros() >= keptMicros)
                                .mapToObj(i -> drop(oldest.get(i)))
                                .toList();
                        var all = Partitions.allOf(drops);
                        return all.handle((answers, error) -> {
                            long dropped = drops.stream()
                                    .filter(each -> !each.isCompletedExceptionally() && each.join())
                                    .count();
                            if (page.next() == null || drops.size() < oldest.size() || dropped == 0 && error != null) {
                                return dropped > 0
                                        ? CompletableFuture.completedFuture(dropped)
                                        : all.thenApply(none -> 0L);
                            }
                            int passed = left + drops.size() - (int) dropped;
                            var rest = dropOldest(letters, keptMicros, maximum, PageStart.next(page.next()), passed);
                            return dropped == 0
                                    ? rest
                                    : rest.handle((more, failure) -> more == null ? dropped : dropped + more);
                        });
                    }))
                    .thenCompose(rest -> rest);
        });
    }

    private CompletableFuture<Boolean> drop(MessageInfo letter) {
        try {
            Partition partition =
                    letter.group() == null ? partitions.ofDeadLetter(letter.id()) : partitions.ofGroup(letter.group());
            return partition
                    .deadLetters()
                    .cancelDelayed(letter.id())
                    .exceptionally(error ->
                            UnmetDurability.<ChangeResult>answer(error).previousState() == MessageState.DELAYED);
        } catch (IllegalArgumentException e) {
            // An id that another client has written, and that this client's calls refuse.
            return CompletableFuture.completedFuture(false);
        }
    }

    @Override
    public CompletableFuture<CheckResult> check() {
        return partitions.inTurn(
                new CheckResult(0, 0, 0, 0), (sum, one) -> one.check().thenApply(found -> merged(sum, found)));
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return partitions.merged(PartitionAdmin::stats, RedisQueueAdmin::merged);
    }

    @Override
    public CompletableFuture<Outlook> outlook(List<Long> boundsMicros) {
        List<Long> bounds = List.copyOf(boundsMicros);
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
        return partitions.merged(one -> one.outlook(bounds), RedisQueueAdmin::merged);
    }

    @Override
    public CompletableFuture<QueueLimits> limit(QueueLimits limits) {
        partitions.checkNoDeadLetters("limit");
        partitions.checkLimits(limits);
        return partitions.inTurn(
                limits, (before, one) -> one.limit(limits).thenApply(found -> found.equals(limits) ? before : found));
    }

    @Override
    public CompletableFuture<List<GroupInfo>> groups() {
        return partitions
                .askAll(PartitionAdmin::parkedGroups)
                .thenCompose(found -> Partitions.allOf(found.stream()
                        .flatMap(each -> each.entrySet().stream())
                        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                        .limit(10)
                        .map(entry -> figures(entry.getKey()))
                        .toList()))
                .thenApply(groups ->
                        groups.stream().filter(each -> each.parked() > 0).toList());
    }

    private CompletableFuture<GroupInfo> figures(String group) {
        return new PartitionAdmin(partitions.ofGroup(group))
                .group(group, null, 0)
                .thenApply(page -> page.info(group));
    }

    @Override
    public CompletableFuture<List<ConsumerInfo>> consumers() {
        return partitions.askAll(PartitionAdmin::consumerRows).thenApply(RedisQueueAdmin::consumers);
    }

    @Override
    public CompletableFuture<ServerInfo> serverInfo() {
        return partitions.merged(PartitionAdmin::serverInfo, RedisQueueAdmin::merged);
    }

    // The answers of several partitions as one.

    private static CheckResult merged(CheckResult one, CheckResult other) {
        return new CheckResult(
                one.messages() + other.messages(),
                one.restored() + other.restored(),
                one.bodiesMissing() + other.bodiesMissing(),
                one.recordsDropped() + other.recordsDropped());
    }

    /** The figures of two partitions, both of which know the same consumers. */
    private static QueueStats merged(QueueStats one, QueueStats other) {
        return new QueueStats(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.delayed() + other.delayed(),
                one.overdue() + other.overdue(),
                one.leased() + other.leased(),
                one.dead() + other.dead(),
                Math.max(one.oldestOverdueMicros(), other.oldestOverdueMicros()),
                one.nextDueMicros() < 0 || other.nextDueMicros() < 0
                        ? Math.max(one.nextDueMicros(), other.nextDueMicros())
                        : Math.min(one.nextDueMicros(), other.nextDueMicros()),
                Math.max(one.consumers(), other.consumers()),
                // Paused if one is; since the first one.
                one.paused() && other.paused()
                        ? Math.min(one.pausedMicros(), other.pausedMicros())
                        : Math.max(one.pausedMicros(), other.pausedMicros()),
                Math.max(one.lastDueMicros(), other.lastDueMicros()),
                one.stored() + other.stored(),
                Math.max(one.lostMicros(), other.lostMicros()),
                one.parked() + other.parked(),
                Math.max(one.oldestParkedMicros(), other.oldestParkedMicros()));
    }

    private static Outlook merged(Outlook one, Outlook other) {
        List<Long> counts = IntStream.range(0, one.counts().size())
                .mapToObj(i -> one.counts().get(i) + other.counts().get(i))
                .toList();
        return new Outlook(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.boundsMicros(),
                counts,
                one.before() + other.before(),
                one.after() + other.after());
    }

    /** The worse of two servers in each respect; they may be the same server. */
    private static ServerInfo merged(ServerInfo one, ServerInfo other) {
        return new ServerInfo(
                one.product(),
                one.version().equals(other.version()) || one.version().endsWith(", " + other.version())
                        ? one.version()
                        : one.version() + ", " + other.version(),
                other.evicts() && !one.evicts() ? other.evictionPolicy() : one.evictionPolicy(),
                one.forgets() || other.forgets()
                        ? Boolean.FALSE
                        : one.appendOnly() == null ? null : other.appendOnly());
    }

    /** The consumers of one reply, or of those of all partitions, which know the same consumers; the last seen first. */
    private static List<ConsumerInfo> consumers(List<List<?>> replies) {
        Map<ByteBuffer, ConsumerInfo> seen = new HashMap<>();
        for (List<?> reply : replies) {
            for (int at = 0; at < reply.size(); at += 2) {
                seen.merge(
                        ByteBuffer.wrap((byte[]) reply.get(at)),
                        consumer((byte[]) reply.get(at + 1)),
                        (one, other) -> one.lastSeenMicros() >= other.lastSeenMicros() ? one : other);
            }
        }
        return seen.values().stream().sorted(NEWEST_FIRST).toList();
    }

    private static ConsumerInfo consumer(byte[] row) {
        long lastSeen = (long) LittleEndian.of(row).getDouble();
        String text = new String(row, Double.BYTES, row.length - Double.BYTES, StandardCharsets.UTF_8);
        int space = text.indexOf(' ');
        return new ConsumerInfo(text.substring(space + 1), lastSeen, text.substring(0, Math.max(0, space)));
    }
}
