// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves due messages from Redis to one consumer's handler: waits for the earliest of the next due time, a wake-up, free
 * capacity and the safety interval, then claims as many messages as there is room for. From a queue with several partitions it
 * claims from each by itself, into one room.
 *
 * <p>Every event (a claim's answer, a wake-up, a timer, a finished message) ends in {@link #step()}, which looks at the
 * state under the lock, decides, and acts after it has let go of the lock. Nothing here blocks.
 *
 * <p>Redis knows which consumers have room, and counts on two of them for each event (see {@code wakeup.lua}). Each claim
 * says whether this one is counted on, and so does a wake-up; otherwise it sleeps for the safety interval. One that
 * cannot keep its promise, as it is full or stops, says so.
 *
 * <p>The room is shared by all partitions. What a claim has asked for takes room until it is answered, so that all claims
 * together ask for no more than there is room for; those who want to claim at the same time share it, and who has waited for
 * the longest time comes first. A claim without an answer for a second holds no room any more: a node that is away must not
 * stop what comes from the others.
 */
final class TransferTask implements DelayQueueConsumer, ClaimedDelivery.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(TransferTask.class);

    /** How long to wait at the most without a claim, so that a lost wake-up costs no more than this. */
    static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A message that is overdue for this long while the consumer is full is worth a warning. */
    static final long OVERDUE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Duration RETURN_AFTER_HANDLER_ERROR = Duration.ofSeconds(1);

    private final String queue;
    private final TransferSource[] sources;
    private final ConsumerOptions options;
    private final Supplier<ClaimId> claimIds;
    private final Timers timers;
    private final RandomGenerator random;
    private final LeaseKeeper leases;
    private final Executor executor;
    private final DeliveryHandler handler;
    private final Supplier<CompletableFuture<QueueStats>> stats;
    private final Runnable stopped;
    private final long leaseNanos;

    private final ReentrantLock lock = new ReentrantLock();

    // All below are guarded by lock.
    private enum Mode {
        NEW,
        RUNNING,
        SUSPENDED,
        STOPPED
    }

    private Mode mode = Mode.NEW;
    private final WorkInHand inHand;

    private Timers.Timer timer;
    private long timerNanos;
    /** No claim is sent before: the back-off after the executor has rejected a message. */
    private long rejectedUntilNanos;
    /** Numbers the claims. */
    private long claimed;

    private boolean overdueReported;
    /** When the figures are looked at again after a look that found nothing overdue. */
    private long overdueLookNanos;

    // Read without the lock.
    /** Whether leases are not extended any more. Set under lock, before those under way are let go. */
    private volatile boolean letLeasesRunOut;
    /** How often in a row the executor rejected a message. */
    private volatile int rejections;

    /**
     * Where messages come from: the whole queue, or one of its partitions.
     *
     * @param queue its deliveries are finished there
     */
    record Partition(Settlements queue, Claims claims) {}

    /** A claim that is to be sent. */
    private record Sending(TransferSource source, ClaimRequest request) {}

    /** A task for a queue without partitions. */
    TransferTask(
            Settlements queue,
            ConsumerOptions options,
            Claims claims,
            Supplier<ClaimId> claimIds,
            Timers timers,
            RandomGenerator random,
            LeaseKeeper leases,
            Executor executor,
            DeliveryHandler handler,
            Supplier<CompletableFuture<QueueStats>> stats,
            Runnable stopped) {
        this(
                List.of(new Partition(queue, claims)),
                options,
                claimIds,
                timers,
                random,
                leases,
                executor,
                handler,
                stats,
                stopped);
    }

    /**
     * @param partitions all of the queue, at least one
     * @param stats reads the queue's figures
     * @param stopped told when the task has stopped
     */
    TransferTask(
            List<Partition> partitions,
            ConsumerOptions options,
            Supplier<ClaimId> claimIds,
            Timers timers,
            RandomGenerator random,
            LeaseKeeper leases,
            Executor executor,
            DeliveryHandler handler,
            Supplier<CompletableFuture<QueueStats>> stats,
            Runnable stopped) {
        this.queue = partitions.get(0).queue().name();
        this.options = options;
        this.claimIds = claimIds;
        this.timers = timers;
        this.random = random;
        this.leases = leases;
        this.executor = executor;
        this.handler = handler;
        this.stats = stats;
        this.stopped = stopped;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        long now = timers.nanoTime();
        this.sources = partitions.stream()
                .map(partition -> new TransferSource(partition.queue(), partition.claims(), now))
                .toArray(TransferSource[]::new);
        this.inHand = new WorkInHand(options, sources.length, now);
        this.rejectedUntilNanos = now;
        this.overdueLookNanos = now;
        this.timerNanos = now;
    }

    /** A message is due in this many microseconds, or something is worth a look now (0). */
    void wakeUp(long waitMicros) {
        wakeUp(0, waitMicros);
    }

    /** The same for one of several partitions. */
    void wakeUp(int partition, long waitMicros) {
        lock.lock();
        try {
            if (mode == Mode.STOPPED) {
                return;
            }
            sources[partition].woken(timers.nanoTime() + TransferSource.saturatedNanos(waitMicros));
        } finally {
            lock.unlock();
        }
        step();
    }

    /** Looks at everything now: wake-ups may have been missed. */
    void makePass() {
        for (int i = 0; i < sources.length; i++) {
            makePass(i);
        }
    }

    /** The same for one of several partitions. */
    void makePass(int partition) {
        lock.lock();
        try {
            sources[partition].lookForEnded(timers.nanoTime());
        } finally {
            lock.unlock();
        }
        wakeUp(partition, 0);
    }

    /** The subscription to wake-ups stands: begins to claim, unless it was suspended meanwhile. */
    void start() {
        boolean isNew;
        lock.lock();
        try {
            isNew = mode == Mode.NEW;
            if (isNew) {
                run();
            }
        } finally {
            lock.unlock();
        }
        if (isNew) {
            step();
        } else {
            makePass(); // it may have been resumed before
        }
    }

    @Override
    public void resume() {
        lock.lock();
        try {
            if (mode == Mode.SUSPENDED || mode == Mode.NEW) {
                run();
            }
        } finally {
            lock.unlock();
        }
        step();
    }

    /** Holds the lock. */
    private void run() {
        mode = Mode.RUNNING;
        long now = timers.nanoTime();
        for (TransferSource source : sources) {
            source.look(now);
        }
    }

    @Override
    public void suspend() {
        lock.lock();
        try {
            if (mode == Mode.RUNNING || mode == Mode.NEW) {
                mode = Mode.SUSPENDED;
            }
        } finally {
            lock.unlock();
        }
        step();
    }

    @Override
    public void stop(boolean extendLeases) {
        List<ClaimedDelivery> letGo = List.of();
        boolean first;
        lock.lock();
        try {
            first = mode != Mode.STOPPED;
            mode = Mode.STOPPED;
            if (!extendLeases) {
                letLeasesRunOut = true;
                letGo = inHand.allUnderWay();
            }
        } finally {
            lock.unlock();
        }
        letGo.forEach(leases::remove);
        step();
        if (first) {
            for (TransferSource source : sources) {
                source.claims.close();
            }
            stopped.run();
        }
    }

    @Override
    public void setConcurrentConsumers(int concurrentConsumers) {
        ConsumerOptions.checkConcurrentConsumers(concurrentConsumers);
        lock.lock();
        try {
            inHand.setSlots(concurrentConsumers);
        } finally {
            lock.unlock();
        }
        step();
    }

    @Override
    public int underWay() {
        lock.lock();
        try {
            return inHand.underWay();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Duration failingFor() {
        lock.lock();
        try {
            TransferSource source = failingLongest();
            return source == null ? Duration.ZERO : Duration.ofNanos(timers.nanoTime() - source.failingSinceNanos());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Throwable lastError() {
        lock.lock();
        try {
            TransferSource source = failingLongest();
            return source == null ? null : source.lastError();
        } finally {
            lock.unlock();
        }
    }

    /** The partition whose claims have been failing for the longest time, or null. Holds the lock. */
    private TransferSource failingLongest() {
        TransferSource longest = null;
        for (TransferSource source : sources) {
            if (source.lastError() != null
                    && (longest == null || source.failingSinceNanos() - longest.failingSinceNanos() < 0)) {
                longest = source;
            }
        }
        return longest;
    }

    @Override
    public void finished(ClaimedDelivery delivery, boolean worked) {
        leases.remove(delivery);
        lock.lock();
        try {
            inHand.finished(delivery, worked, timers.nanoTime());
        } finally {
            lock.unlock();
        }
        step();
    }

    @Override
    public void leaseLost() {
        step(); // it may have been the one that is alone
    }

    /** A claim's sending got no answer; it is repeated. */
    void attemptFailed(Throwable error) {
        attemptFailed(0, error);
    }

    /** The same for one of several partitions. */
    void attemptFailed(int partition, Throwable error) {
        attemptFailed(sources[partition], error);
        if (sources.length > 1) {
            step(); // others may have the room that it had asked for
        }
    }

    private void attemptFailed(TransferSource source, Throwable error) {
        boolean first;
        lock.lock();
        try {
            // One Redis may have all the partitions: it is told once, not once for each.
            first = failingLongest() == null && mode != Mode.STOPPED;
            source.attemptFailed(error, timers.nanoTime());
        } finally {
            lock.unlock();
        }
        if (first) {
            tell(() -> handler.claimsFailing(error));
        }
    }

    /** Decides what is to be done now, and does it. */
    private void step() {
        List<ClaimedDelivery> release = new ArrayList<>(0);
        List<ClaimedDelivery> begin = new ArrayList<>(0);
        List<Sending> claims = List.of();
        long now;
        lock.lock();
        try {
            now = timers.nanoTime();
            if (mode != Mode.RUNNING) {
                inHand.giveBack(release);
                cancelTimer();
                for (TransferSource source : sources) {
                    if (source.inRoom() && !source.claiming()) {
                        source.leave(claimIds.get());
                    }
                }
            } else {
                inHand.giveBackOld(now, release);
                inHand.begin(now, begin, release);
                claims = nextClaims(now);
                for (TransferSource source : sources) {
                    leaveIfItCannotCome(source, now);
                }
                armTimer(now);
            }
        } finally {
            lock.unlock();
        }
        for (ClaimedDelivery delivery : begin) {
            hand(delivery);
        }
        for (ClaimedDelivery delivery : release) {
            delivery.release();
        }
        for (Sending claim : claims) {
            TransferSource source = claim.source();
            ClaimRequest request = claim.request();
            try {
                source.claims
                        .claim(request)
                        .whenComplete((reply, error) -> answered(source, request, now, reply, error));
            } catch (RuntimeException e) {
                refused(source, e);
            }
        }
    }

    /** The claims to send now: who wants to claim shares the room. Holds the lock. */
    private List<Sending> nextClaims(long now) {
        int endedRoom = endedRoom(now);
        int room = room(now);
        List<TransferSource> wanting = wanting(now, room, endedRoom);
        int left = wanting.size();
        if (left == 0) {
            return List.of();
        }
        int[] messages = new int[left];
        int[] ended = new int[left];
        for (int i = 0; left > 0 && room > 0; i++, left--) {
            TransferSource source = wanting.get(i);
            int share = (room + left - 1) / left;
            messages[i] = Math.min(options.maxMessagesPerPoll(), share);
            ended[i] = Math.min(messages[i], (endedRoom + left - 1) / left);
            if (ended[i] == 0 && !source.isDue(now)) {
                messages[i] = 0; // it wants only ones whose lease ended
            }
            room -= messages[i];
            endedRoom -= ended[i];
        }
        List<Sending> claims = new ArrayList<>(wanting.size());
        for (int i = 0; i < messages.length; i++) {
            if (messages[i] > 0) {
                claims.add(claim(wanting.get(i), now, messages[i], ended[i], room > 0));
            }
        }
        return claims;
    }

    /** Those who want to claim, who has waited for the longest time first. Holds the lock. */
    private List<TransferSource> wanting(long now, int room, int endedRoom) {
        if (now - rejectedUntilNanos < 0) {
            return List.of();
        }
        List<TransferSource> wanting = List.of();
        for (TransferSource source : sources) {
            if (source.mustWait(now)) {
                continue;
            }
            boolean due = source.isDue(now) && inHand.worthAClaim(room, endedRoom);
            boolean ended = source.leaseEnded(now) && endedRoom > 0;
            if (due || ended) {
                if (sources.length == 1) {
                    return List.of(source);
                }
                if (wanting.isEmpty()) {
                    wanting = new ArrayList<>();
                }
                wanting.add(source);
            }
        }
        if (wanting.size() > 1) {
            wanting.sort(Comparator.comparingLong(TransferSource::claimNumber));
        }
        return wanting;
    }

    /**
     * Holds the lock.
     *
     * @param moreRoom whether there is room for more than all claims that are sent now ask for
     */
    private Sending claim(TransferSource source, long now, int messages, int ended, boolean moreRoom) {
        source.claims(messages, ++claimed, now);
        return new Sending(
                source,
                new ClaimRequest(
                        claimIds.get(),
                        TimeUnit.NANOSECONDS.toMicros(leaseNanos),
                        messages,
                        ended,
                        afterwards(moreRoom),
                        TimeUnit.NANOSECONDS.toMicros(SAFETY_NANOS - random.nextLong(SAFETY_NANOS / 10))));
    }

    /** Holds the lock. */
    private ClaimRequest.Afterwards afterwards(boolean moreRoom) {
        if (inHand.isQuick()) {
            return ClaimRequest.Afterwards.QUICK;
        }
        return moreRoom ? ClaimRequest.Afterwards.KEEPS_WAITING : ClaimRequest.Afterwards.WAITS_IF_GIVEN_LESS;
    }

    /** Says so if this consumer cannot come as it has promised. Holds the lock. */
    private void leaveIfItCannotCome(TransferSource source, long now) {
        if (!source.promised() || !cannotCome(source, now) || now - source.leavesAt() < 0) {
            return;
        }
        source.leave(claimIds.get());
        if (room(now) == 0) {
            source.lookForDue(now); // as soon as there is room
        }
        source.lookForEnded(now);
    }

    /** Whether it could not claim now for what it has promised to come for. Holds the lock. */
    private boolean cannotCome(TransferSource source, long now) {
        int endedRoom = endedRoom(now);
        return source.dueComesFirst() ? !inHand.worthAClaim(room(now), endedRoom) : endedRoom == 0;
    }

    /** How many messages may come. Holds the lock. */
    private int room(long now) {
        return inHand.room(now, asked(now));
    }

    /** How many messages whose lease ended may come. Holds the lock. */
    private int endedRoom(long now) {
        return inHand.endedRoom(now, asked(now));
    }

    /** How many messages the claims under way may still bring. Holds the lock. */
    private int asked(long now) {
        if (sources.length == 1) {
            return 0; // nobody else wants the room
        }
        int asked = 0;
        for (TransferSource source : sources) {
            asked += source.asked(now);
        }
        return asked;
    }

    /** Sets the timer to the next thing that this task has to do by itself. Holds the lock. */
    private void armTimer(long now) {
        long next = Long.MAX_VALUE;
        int room = room(now);
        int endedRoom = endedRoom(now);
        boolean waitsForRoom = false;
        for (TransferSource source : sources) {
            if (!source.claiming()) {
                next = Math.min(next, nextWait(source, now, room, endedRoom));
                waitsForRoom |= source.isDue(now) || source.leaseEnded(now);
            }
        }
        if (waitsForRoom) {
            next = Math.min(next, nextRoom(now));
        }
        next = Math.min(next, inHand.nextWait(now));
        if (next == Long.MAX_VALUE) {
            cancelTimer();
            return;
        }
        next = Math.max(0, next);
        if (timer != null) {
            if (timerNanos == now + next) {
                return;
            }
            timer.cancel();
        }
        timerNanos = now + next;
        Timers.Timer[] self = new Timers.Timer[1];
        self[0] = timers.schedule(next, () -> timerFired(self));
        timer = self[0];
    }

    /** How long until a partition needs a step; {@link Long#MAX_VALUE} if it needs none. Holds the lock. */
    private long nextWait(TransferSource source, long now, int room, int endedRoom) {
        long next = Long.MAX_VALUE;
        if (inHand.worthAClaim(room, endedRoom)) {
            next = source.nextDueNanos() - now;
        } else if (room == 0 && !overdueReported) {
            next = overdueLook() - now;
        }
        if (source.promised() && cannotCome(source, now)) {
            next = Math.min(next, source.leavesAt() - now);
        }
        if (endedRoom > 0) {
            next = Math.min(next, source.nextEndNanos() - now);
        }
        if (room > 0 && next != Long.MAX_VALUE) {
            next = Math.max(next, Math.max(source.notBeforeNanos(), rejectedUntilNanos) - now);
        }
        return next;
    }

    /** How long until a claim that is not answered gives up its room to the other partitions. Holds the lock. */
    private long nextRoom(long now) {
        long next = Long.MAX_VALUE;
        for (TransferSource source : sources) {
            next = Math.min(next, source.nextRoom(now));
        }
        return next;
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private void timerFired(Timers.Timer[] fired) {
        boolean full = false;
        lock.lock();
        try {
            if (timer != fired[0]) {
                return; // an older timer that could not be cancelled any more
            }
            timer = null;
            long now = timers.nanoTime();
            if (mode == Mode.RUNNING && !overdueReported && !allClaim() && room(now) == 0 && now - overdueLook() >= 0) {
                overdueReported = true;
                full = true;
            }
        } finally {
            lock.unlock();
        }
        step();
        if (full) {
            reportOverdue();
        }
    }

    /** Holds the lock. */
    private boolean allClaim() {
        for (TransferSource source : sources) {
            if (!source.claiming()) {
                return false;
            }
        }
        return true;
    }

    /** When it is time to ask whether a message is overdue, if this consumer stays full. Holds the lock. */
    private long overdueLook() {
        long head = Long.MAX_VALUE;
        for (TransferSource source : sources) {
            if (!source.claiming()) { // else its answer tells, or that there is none
                head = Math.min(head, source.headNanos());
            }
        }
        return Math.max(head + OVERDUE_NANOS, overdueLookNanos);
    }

    /** Others may have taken what was due: asks before it warns. */
    private void reportOverdue() {
        stats.get().whenComplete((figures, error) -> {
            Duration age = error == null
                    ? Duration.of(figures.oldestOverdueMicros(), java.time.temporal.ChronoUnit.MICROS)
                    : Duration.ZERO;
            ClaimedDelivery longest = null;
            lock.lock();
            try {
                if (age.toNanos() < OVERDUE_NANOS) {
                    // What becomes due while the same work hangs on is still to be reported.
                    overdueReported = false;
                    overdueLookNanos =
                            timers.nanoTime() + (age.isZero() ? SAFETY_NANOS : OVERDUE_NANOS - age.toNanos());
                } else if (mode == Mode.RUNNING) {
                    longest = inHand.longestRunning();
                }
            } finally {
                lock.unlock();
            }
            if (longest != null) {
                ClaimedDelivery running = longest;
                tell(() -> handler.overdueWhileFull(age, running));
            }
            step();
        });
    }

    private void answered(
            TransferSource source, ClaimRequest request, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(source, RedisErrors.unwrap(error));
            return;
        }
        boolean recovered;
        boolean tooLate;
        lock.lock();
        try {
            long now = timers.nanoTime();
            tooLate = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
            recovered =
                    source.answered(reply, tooLate, now, random) && failingLongest() == null && mode != Mode.STOPPED;
            overdueReported = false;
            tooLate = source.lateAnswers() == 3;
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                inHand.add(new ClaimedDelivery(
                        source.queue, message, request.claimId(), reply.timeMicros(), sentNanos, now, timers, this));
            }
        } finally {
            lock.unlock();
        }
        if (recovered) {
            tell(() -> handler.claimsFailing(null));
        }
        if (tooLate) {
            LOG.warn(
                    "queue '{}': Redis answers claims so late that half of the lease ({}) is over, so nothing is begun."
                            + " Make the visibility timeout longer",
                    queue,
                    options.visibilityTimeout());
        }
        for (String id : reply.dropped()) {
            LOG.warn("queue '{}': message '{}' had no body and was dropped", queue, ShownId.of(id));
            tell(() -> handler.bodyMissing(id));
        }
        step();
    }

    private void refused(TransferSource source, Throwable refusal) {
        Throwable error = RedisErrors.explained(queue, refusal);
        attemptFailed(source, error);
        lock.lock();
        try {
            source.refused(timers.nanoTime(), random);
        } finally {
            lock.unlock();
        }
        step();
    }

    private void hand(ClaimedDelivery delivery) {
        leases.keep(delivery, options, handler);
        if (letLeasesRunOut) {
            leases.remove(delivery); // it was stopped in between
        }
        try {
            executor.execute(() -> work(delivery));
        } catch (RuntimeException e) {
            LOG.debug("queue '{}': message '{}' could not be begun", queue, delivery.id(), e);
            rejected();
            delivery.release();
            return;
        }
        rejections = 0;
    }

    /** The executor is full or being shut down: what is released comes back at once, so that claims have to wait. */
    private void rejected() {
        lock.lock();
        try {
            long now = timers.nanoTime();
            if (now - rejectedUntilNanos >= 0) { // else it is one of several that were rejected together
                int count = rejections + 1;
                rejections = count;
                rejectedUntilNanos = now + Backoff.nanos(count, random);
                for (TransferSource source : sources) {
                    source.lookForDue(rejectedUntilNanos);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void work(ClaimedDelivery delivery) {
        try {
            handler.handle(delivery);
        } catch (Throwable e) {
            LOG.warn("queue '{}': the handler of message '{}' failed", queue, ShownId.of(delivery.id()), e);
            delivery.negativeAcknowledge(RETURN_AFTER_HANDLER_ERROR, new byte[0]);
        }
    }

    /** Tells the handler something; what it throws must not stop the transfer. */
    private void tell(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            LOG.warn("queue '{}': a listener failed", queue, e);
        }
    }
}
