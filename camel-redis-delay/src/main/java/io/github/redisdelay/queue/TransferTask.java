// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
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
 * capacity and the safety interval, then claims as many messages as there is room for.
 *
 * <p>Every event (a claim's answer, a wake-up, a timer, a finished message) ends in {@link #step()}, which looks at the
 * state under the lock, decides, and acts after it has let go of the lock. Nothing here blocks.
 *
 * <p>Redis knows which consumers have room, and counts on two of them for each event (see {@code room.lua}). Each claim
 * says whether this one is counted on, and so does a wake-up; otherwise it sleeps for the safety interval. One that
 * cannot keep its promise, as it is full or stops, says so.
 *
 * <p>Room is the number of free slots and a read-ahead, which follows what this consumer really finished in the last
 * 100 ms, and is no more than it can begin within 5 ms: none for a slow one, so that it never sits on messages that
 * another could work on.
 */
final class TransferTask implements DelayQueueConsumer, ClaimedDelivery.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(TransferTask.class);

    /** How long to wait at the most without a claim, so that a lost wake-up costs no more than this. */
    static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** By how much later than the first consumer the second one comes for an event; {@code SECOND} in {@code room.lua}. */
    static final long SECOND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** A consumer whose work takes less on average can promise to come again though its hands are full. */
    static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** How long a full consumer that has promised to come waits for a free slot before it says that it cannot. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** What was read ahead and not begun for this long is given back. */
    static final long READ_AHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The time over which finished messages are counted for the read-ahead. */
    static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A message that is overdue for this long while the consumer is full is worth a warning. */
    static final long OVERDUE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Duration RETURN_AFTER_HANDLER_ERROR = Duration.ofSeconds(1);

    private final Settlements queue;
    private final ConsumerOptions options;
    private final Claims claims;
    private final Supplier<ClaimId> claimIds;
    private final Timers timers;
    private final RandomGenerator random;
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
    /** Claimed and not begun, in order. */
    private final ArrayDeque<ClaimedDelivery> readAhead = new ArrayDeque<>();
    /** Begun and not finished, the longest running first. */
    private final LinkedHashSet<ClaimedDelivery> underWay = new LinkedHashSet<>();
    /** The one under way beside which nothing is begun, because its last deliveries ended by lost leases; or null. */
    private ClaimedDelivery alone;

    private boolean claiming;
    /** When to claim for the next message that is due, by the local clock. */
    private long nextDueNanos;
    /** When to claim for the next lease that ends; such messages are claimed only into free slots. */
    private long nextEndNanos;
    /** When the next message is due, as far as this consumer knows, whoever is to come for it. */
    private long headNanos;
    /** Whether it is in the waiting room, as far as this consumer knows. */
    private boolean inRoom;
    /** Whether it is counted on by then: the earlier of {@link #nextDueNanos} and {@link #nextEndNanos}. */
    private boolean promised;
    /** The earliest event that wake-ups told of since the claim under way was sent. */
    private long wokenNanos = Long.MAX_VALUE;

    private Timers.Timer timer;
    private long timerNanos;
    private int refusals;
    /** How many claims in a row were answered when half of the lease was over. */
    private int lateAnswers;
    /** No claim is sent before, whatever wakes this task: the back-off after an error. */
    private long notBeforeNanos;

    private long failingSinceNanos;
    private Throwable lastError;
    private boolean overdueReported;
    /** When the figures are looked at again after a look that found nothing overdue. */
    private long overdueLookNanos;

    private long windowStartNanos;
    private int finishedInWindow;
    private int finishedBefore;
    /** How long a message's work takes, a moving average; -1 before the first one. */
    private long workNanos = -1;

    // Read without the lock.
    /** Whether leases are not extended any more. Set under lock, before those under way are let go. */
    private volatile boolean letLeasesRunOut;
    /** How often in a row the executor rejected a message. */
    private volatile int rejections;

    /**
     * @param stats reads the queue's figures
     * @param stopped told when the task has stopped
     */
    TransferTask(
            Settlements queue,
            ConsumerOptions options,
            Claims claims,
            Supplier<ClaimId> claimIds,
            Timers timers,
            RandomGenerator random,
            Executor executor,
            DeliveryHandler handler,
            Supplier<CompletableFuture<QueueStats>> stats,
            Runnable stopped) {
        this.queue = queue;
        this.options = options;
        this.claims = claims;
        this.claimIds = claimIds;
        this.timers = timers;
        this.random = random;
        this.executor = executor;
        this.handler = handler;
        this.stats = stats;
        this.stopped = stopped;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        long now = timers.nanoTime();
        this.nextDueNanos = now;
        this.nextEndNanos = now;
        this.headNanos = now;
        this.notBeforeNanos = now;
        this.overdueLookNanos = now;
        this.windowStartNanos = now;
        this.timerNanos = now;
    }

    /** A message is due in this many microseconds, or something is worth a look now (0). */
    void wakeUp(long waitMicros) {
        lock.lock();
        try {
            if (mode == Mode.STOPPED) {
                return;
            }
            long at = timers.nanoTime() + saturatedNanos(waitMicros);
            if (claiming) {
                // The claim may have looked before the message was there.
                wokenNanos = Math.min(wokenNanos, at);
            }
            nextDueNanos = Math.min(nextDueNanos, at);
            headNanos = Math.min(headNanos, at);
            promised = inRoom;
        } finally {
            lock.unlock();
        }
        step();
    }

    /** Looks at everything now: wake-ups may have been missed. */
    void makePass() {
        lock.lock();
        try {
            nextEndNanos = Math.min(nextEndNanos, timers.nanoTime());
        } finally {
            lock.unlock();
        }
        wakeUp(0);
    }

    /** The subscription to wake-ups stands: begins to claim, unless it was suspended meanwhile. */
    void start() {
        boolean isNew;
        lock.lock();
        try {
            isNew = mode == Mode.NEW;
            if (isNew) {
                mode = Mode.RUNNING;
                nextDueNanos = timers.nanoTime();
                nextEndNanos = nextDueNanos;
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
                mode = Mode.RUNNING;
                nextDueNanos = timers.nanoTime();
                nextEndNanos = nextDueNanos;
            }
        } finally {
            lock.unlock();
        }
        step();
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
                letGo = new ArrayList<>(underWay);
            }
        } finally {
            lock.unlock();
        }
        letGo.forEach(queue.leases()::remove);
        step();
        if (first) {
            claims.close();
            stopped.run();
        }
    }

    @Override
    public int underWay() {
        lock.lock();
        try {
            return underWay.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Duration failingFor() {
        lock.lock();
        try {
            return lastError == null ? Duration.ZERO : Duration.ofNanos(timers.nanoTime() - failingSinceNanos);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Throwable lastError() {
        lock.lock();
        try {
            return lastError;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void finished(ClaimedDelivery delivery, boolean worked) {
        lock.lock();
        try {
            if (underWay.remove(delivery)) {
                if (alone == delivery) {
                    alone = null;
                }
                if (worked) {
                    countFinished(delivery, timers.nanoTime());
                }
            }
        } finally {
            lock.unlock();
        }
        step();
    }

    /** A claim's sending got no answer; it is repeated. */
    void attemptFailed(Throwable error) {
        boolean first;
        lock.lock();
        try {
            first = lastError == null;
            if (first) {
                failingSinceNanos = timers.nanoTime();
            }
            lastError = error;
            first = first && mode != Mode.STOPPED;
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
        ClaimRequest claim = null;
        long now;
        lock.lock();
        try {
            now = timers.nanoTime();
            if (mode != Mode.RUNNING) {
                release.addAll(readAhead);
                readAhead.clear();
                cancelTimer();
                if (inRoom && !claiming) {
                    leave();
                }
            } else {
                dropOldReadAhead(now, release);
                begin(now, begin, release);
                claim = nextClaim(now);
                if (claim != null) {
                    claiming = true;
                    wokenNanos = Long.MAX_VALUE;
                }
                leaveIfItCannotCome(now);
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
        if (claim != null) {
            ClaimRequest request = claim;
            try {
                claims.claim(request).whenComplete((reply, error) -> answered(request, now, reply, error));
            } catch (RuntimeException e) {
                refused(e);
            }
        }
    }

    /** Gives back what waits for a slot for too long. Holds the lock. */
    private void dropOldReadAhead(long now, List<ClaimedDelivery> release) {
        ClaimedDelivery first = readAhead.peek();
        if (first == null || (!isSuspicious(first) && now - first.answeredNanos() < patience(first))) {
            return; // the others came later
        }
        readAhead.removeIf(delivery -> {
            boolean old = now - delivery.answeredNanos() >= patience(delivery);
            if (old) {
                release.add(delivery);
            }
            return old;
        });
    }

    /** How long a message may wait for a slot. One that has to be begun alone waits for those under way. */
    private long patience(ClaimedDelivery delivery) {
        return isSuspicious(delivery) ? leaseNanos / 2 : Math.min(READ_AHEAD_NANOS, leaseNanos / 3);
    }

    /** Whether a message may have killed its last consumers: it is begun alone, so that it harms no other. */
    private static boolean isSuspicious(ClaimedDelivery delivery) {
        return delivery.lostLeases() >= 2;
    }

    /** Takes what can be begun. Holds the lock. */
    private void begin(long now, List<ClaimedDelivery> begin, List<ClaimedDelivery> release) {
        while (!readAhead.isEmpty() && freeSlots() > 0) {
            ClaimedDelivery next = readAhead.peek();
            if (now - next.claimSentNanos() > leaseNanos / 2) {
                // It could end up being worked on twice.
                release.add(readAhead.poll());
                continue;
            }
            boolean suspicious = isSuspicious(next);
            if (suspicious && !underWay.isEmpty() && now - next.answeredNanos() < companyLimit()) {
                return;
            }
            readAhead.poll();
            alone = suspicious ? next : null;
            next.begun(now);
            underWay.add(next);
            begin.add(next);
        }
    }

    /**
     * How long a suspicious message waits for those under way. Then it is begun beside what has been running for so long:
     * an exchange that hangs must not stop the whole consumer.
     */
    private long companyLimit() {
        return leaseNanos / 4;
    }

    /** Holds the lock. */
    private int freeSlots() {
        return alone != null ? 0 : options.concurrentConsumers() - underWay.size();
    }

    /** The claim to send now, or null. Holds the lock. */
    private ClaimRequest nextClaim(long now) {
        if (claiming || now - notBeforeNanos < 0) {
            return null;
        }
        int endedRoom = endedRoom();
        int room = room(now);
        boolean due = now - nextDueNanos >= 0 && worthAClaim(room, endedRoom);
        boolean ended = now - nextEndNanos >= 0 && endedRoom > 0;
        if (!due && !ended) {
            return null;
        }
        int messages = Math.min(options.maxMessagesPerPoll(), room);
        return new ClaimRequest(
                claimIds.get(),
                TimeUnit.NANOSECONDS.toMicros(leaseNanos),
                messages,
                Math.min(messages, endedRoom),
                afterwards(room, messages),
                TimeUnit.NANOSECONDS.toMicros(SAFETY_NANOS - random.nextLong(SAFETY_NANOS / 10)));
    }

    /** Holds the lock. */
    private ClaimRequest.Afterwards afterwards(int room, int messages) {
        if (workNanos >= 0 && workNanos <= QUICK_NANOS) {
            return ClaimRequest.Afterwards.QUICK;
        }
        return room > messages ? ClaimRequest.Afterwards.KEEPS_WAITING : ClaimRequest.Afterwards.WAITS_IF_GIVEN_LESS;
    }

    /** Says so if this consumer cannot come as it has promised. Holds the lock. */
    private void leaveIfItCannotCome(long now) {
        if (claiming || !promised || !cannotCome(now) || now - leavesAt() < 0) {
            return;
        }
        leave();
        if (room(now) == 0) {
            nextDueNanos = now; // as soon as there is room
        }
        nextEndNanos = Math.min(nextEndNanos, now);
    }

    /** Whether it could not claim now for what it has promised to come for. Holds the lock. */
    private boolean cannotCome(long now) {
        int endedRoom = endedRoom();
        return nextDueNanos <= nextEndNanos ? !worthAClaim(room(now), endedRoom) : endedRoom == 0;
    }

    /**
     * Leaves the waiting room. Holds the lock, so that this call has its number before any claim that follows: it is not
     * waited for.
     */
    private void leave() {
        promised = false;
        inRoom = false;
        claims.leave(claimIds.get());
    }

    /** Holds the lock. */
    private long leavesAt() {
        return Math.min(nextDueNanos, nextEndNanos) + PATIENCE_NANOS;
    }

    /** How many messages whose lease ended may come. Holds the lock. */
    private int endedRoom() {
        return waitsToBeAlone() ? 0 : Math.max(0, freeSlots() - readAhead.size());
    }

    /** Whether one waits to be begun alone: nothing more is claimed, as it would be lost with it. Holds the lock. */
    private boolean waitsToBeAlone() {
        return !readAhead.isEmpty() && (isSuspicious(readAhead.peek()) || isSuspicious(readAhead.peekLast()));
    }

    /** How many messages may come. Holds the lock. */
    private int room(long now) {
        return alone != null || waitsToBeAlone() ? 0 : Math.max(0, freeSlots() + readAheadSize(now) - readAhead.size());
    }

    /** A fast consumer claims again when half of its read-ahead is used up, not for each message. Holds the lock. */
    private boolean worthAClaim(int room, int endedRoom) {
        return endedRoom > 0 || (room > 0 && room >= readAhead.size());
    }

    /** Holds the lock. */
    private int readAheadSize(long now) {
        shiftWindow(now);
        // One for each slot is no sign of speed: a slow consumer, too, finishes a message before it asks for the next.
        int beyondSlots = Math.max(finishedInWindow, finishedBefore) - options.concurrentConsumers();
        // Nor is anything read ahead that is not begun within a few milliseconds: others may have nothing to do.
        long soon = workNanos <= 0 ? beyondSlots : options.concurrentConsumers() * (QUICK_NANOS / workNanos);
        return (int) Math.max(0, Math.min(Math.min(options.maxMessagesPerPoll(), beyondSlots), soon));
    }

    private void countFinished(ClaimedDelivery delivery, long now) {
        shiftWindow(now);
        finishedInWindow++;
        long took = now - delivery.begunNanos();
        workNanos = workNanos < 0 ? took : workNanos + (took - workNanos) / 8;
    }

    private void shiftWindow(long now) {
        long windows = (now - windowStartNanos) / WINDOW_NANOS;
        if (windows > 0) {
            finishedBefore = windows == 1 ? finishedInWindow : 0;
            finishedInWindow = 0;
            windowStartNanos += windows * WINDOW_NANOS;
        }
    }

    /** Sets the timer to the next thing that this task has to do by itself. Holds the lock. */
    private void armTimer(long now) {
        long next = Long.MAX_VALUE;
        if (!claiming) {
            int room = room(now);
            int endedRoom = endedRoom();
            if (worthAClaim(room, endedRoom)) {
                next = nextDueNanos - now;
            } else if (room == 0 && !overdueReported) {
                next = overdueLook() - now;
            }
            if (promised && cannotCome(now)) {
                next = Math.min(next, leavesAt() - now);
            }
            if (endedRoom > 0) {
                next = Math.min(next, nextEndNanos - now);
            }
            if (room > 0 && next != Long.MAX_VALUE) {
                next = Math.max(next, notBeforeNanos - now);
            }
        }
        for (ClaimedDelivery delivery : readAhead) {
            long wait = isSuspicious(delivery) && freeSlots() > 0 ? companyLimit() : patience(delivery);
            next = Math.min(next, delivery.answeredNanos() + wait - now);
            if (!isSuspicious(delivery)) {
                break; // the others came later
            }
        }
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
            if (mode == Mode.RUNNING && !overdueReported && !claiming && room(now) == 0 && now - overdueLook() >= 0) {
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

    /** When it is time to ask whether a message is overdue, if this consumer stays full. Holds the lock. */
    private long overdueLook() {
        return Math.max(headNanos + OVERDUE_NANOS, overdueLookNanos);
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
                } else if (!underWay.isEmpty() && mode == Mode.RUNNING) {
                    longest = underWay.iterator().next();
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

    private void answered(ClaimRequest request, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(RedisErrors.unwrap(error));
            return;
        }
        boolean recovered;
        boolean tooLate;
        lock.lock();
        try {
            long now = timers.nanoTime();
            claiming = false;
            refusals = 0;
            recovered = lastError != null && mode != Mode.STOPPED;
            lastError = null;
            overdueReported = false;
            tooLate = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
            if (tooLate) {
                // All of them go back. Without a pause that would go on and on.
                lateAnswers++;
                notBeforeNanos = now + Backoff.nanos(lateAnswers, random);
            } else {
                lateAnswers = 0;
            }
            tooLate = lateAnswers == 3;
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                readAhead.add(new ClaimedDelivery(
                        queue, message, request.claimId(), reply.timeMicros(), sentNanos, now, this));
            }
            // The earliest of the answer, the wake-ups since the claim was sent, and the safety interval.
            long safety = now + TimeUnit.MICROSECONDS.toNanos(reply.safetyMicros());
            long due = Math.min(safety, after(now, reply.nextDueMicros()));
            long end = Math.min(safety, after(now, reply.nextEndMicros()));
            headNanos = Math.min(wokenNanos, due);
            inRoom = reply.expected() != ClaimReply.Expected.WHEN_IT_HAS_ROOM;
            promised = inRoom;
            switch (reply.expected()) {
                case BY_EVENT -> {
                    nextDueNanos = due;
                    nextEndNanos = end;
                }
                case BY_SECOND -> {
                    nextDueNanos = Math.min(safety, due + SECOND_NANOS);
                    nextEndNanos = Math.min(safety, end + SECOND_NANOS);
                }
                case AFTER_SAFETY_INTERVAL -> {
                    nextDueNanos = safety;
                    nextEndNanos = safety;
                    promised = wokenNanos != Long.MAX_VALUE;
                }
                case WHEN_IT_HAS_ROOM -> {
                    nextDueNanos = now;
                    nextEndNanos = now;
                }
            }
            nextDueNanos = Math.min(nextDueNanos, wokenNanos);
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
                    queue.name(),
                    options.visibilityTimeout());
        }
        for (String id : reply.dropped()) {
            LOG.warn("queue '{}': message '{}' had no body and was dropped", queue.name(), id);
            tell(() -> handler.bodyMissing(id));
        }
        step();
    }

    private void refused(Throwable error) {
        attemptFailed(error);
        lock.lock();
        try {
            claiming = false;
            refusals++;
            notBeforeNanos = timers.nanoTime() + Backoff.nanos(refusals, random);
            nextDueNanos = notBeforeNanos;
            nextEndNanos = notBeforeNanos;
            headNanos = notBeforeNanos;
        } finally {
            lock.unlock();
        }
        step();
    }

    private void hand(ClaimedDelivery delivery) {
        queue.leases().keep(delivery, queue, options, handler);
        if (letLeasesRunOut) {
            queue.leases().remove(delivery); // it was stopped in between
        }
        try {
            executor.execute(() -> work(delivery));
        } catch (RuntimeException e) {
            LOG.debug("queue '{}': message '{}' could not be begun", queue.name(), delivery.id(), e);
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
            if (now - notBeforeNanos >= 0) { // else it is one of several that were rejected together
                int count = rejections + 1;
                rejections = count;
                notBeforeNanos = now + Backoff.nanos(count, random);
                nextDueNanos = Math.min(nextDueNanos, notBeforeNanos);
            }
        } finally {
            lock.unlock();
        }
    }

    private void work(ClaimedDelivery delivery) {
        try {
            handler.handle(delivery);
        } catch (Throwable e) {
            LOG.warn("queue '{}': the handler of message '{}' failed", queue.name(), delivery.id(), e);
            delivery.negativeAcknowledge(RETURN_AFTER_HANDLER_ERROR, new byte[0]);
        }
    }

    /** Tells the handler something; what it throws must not stop the transfer. */
    private void tell(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            LOG.warn("queue '{}': a listener failed", queue.name(), e);
        }
    }

    private static long after(long now, long micros) {
        return micros < 0 ? Long.MAX_VALUE : now + saturatedNanos(micros);
    }

    /** Capped at ten years, so that sums with a clock reading stay comparable. */
    private static long saturatedNanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650)));
    }
}
