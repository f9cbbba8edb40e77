// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
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
 * capacity and the safety interval, then claims as many messages as there is room for. From a queue with several partitions it
 * claims from each by itself, into one room.
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

    /** A claim that was not answered within this time takes no room from other partitions any more. */
    static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Duration RETURN_AFTER_HANDLER_ERROR = Duration.ofSeconds(1);

    private final String queue;
    private final Source[] sources;
    private final ConsumerOptions options;
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

    private Timers.Timer timer;
    private long timerNanos;
    /** No claim is sent before: the back-off after the executor has rejected a message. */
    private long rejectedUntilNanos;
    /** Numbers the claims. */
    private long claimed;

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
     * Where messages come from: the whole queue, or one of its partitions.
     *
     * @param queue its deliveries are finished there
     */
    record Partition(Settlements queue, Claims claims) {}

    /** A partition and what is known of it. Guarded by lock. */
    private static final class Source {
        final Settlements queue;
        final Claims claims;

        boolean claiming;
        /** How many messages the claim under way takes room for, and since when. */
        int asked;

        long askedNanos;
        /** The number of its latest claim: who waits for the longest time has the lowest. */
        long claimNumber;
        /** When to claim for the next message that is due, by the local clock. */
        long nextDueNanos;
        /** When to claim for the next lease that ends; such messages are claimed only into free slots. */
        long nextEndNanos;
        /** When the next message is due, as far as this consumer knows, whoever is to come for it. */
        long headNanos;
        /** Whether the consumer is in the waiting room, as far as it knows. */
        boolean inRoom;
        /** Whether it is counted on by then: the earlier of {@link #nextDueNanos} and {@link #nextEndNanos}. */
        boolean promised;
        /** The earliest event that wake-ups told of since the claim under way was sent. */
        long wokenNanos = Long.MAX_VALUE;

        int refusals;
        /** How many claims in a row were answered when half of the lease was over. */
        int lateAnswers;
        /** No claim is sent before, whatever wakes this task: the back-off after an error. */
        long notBeforeNanos;

        long failingSinceNanos;
        Throwable lastError;

        Source(Partition partition, long now) {
            this.queue = partition.queue();
            this.claims = partition.claims();
            this.nextDueNanos = now;
            this.nextEndNanos = now;
            this.headNanos = now;
            this.notBeforeNanos = now;
        }
    }

    /** A claim that is to be sent. */
    private record Sending(Source source, ClaimRequest request) {}

    /** A task for a queue without partitions. */
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
        this(
                List.of(new Partition(queue, claims)),
                options,
                claimIds,
                timers,
                random,
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
            Executor executor,
            DeliveryHandler handler,
            Supplier<CompletableFuture<QueueStats>> stats,
            Runnable stopped) {
        this.queue = partitions.get(0).queue().name();
        this.options = options;
        this.claimIds = claimIds;
        this.timers = timers;
        this.random = random;
        this.executor = executor;
        this.handler = handler;
        this.stats = stats;
        this.stopped = stopped;
        this.leaseNanos = options.visibilityTimeout().toNanos();
        long now = timers.nanoTime();
        this.sources =
                partitions.stream().map(partition -> new Source(partition, now)).toArray(Source[]::new);
        this.rejectedUntilNanos = now;
        this.overdueLookNanos = now;
        this.windowStartNanos = now;
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
            Source source = sources[partition];
            long at = timers.nanoTime() + saturatedNanos(waitMicros);
            if (source.claiming) {
                // The claim may have looked before the message was there.
                source.wokenNanos = Math.min(source.wokenNanos, at);
            }
            source.nextDueNanos = Math.min(source.nextDueNanos, at);
            source.headNanos = Math.min(source.headNanos, at);
            source.promised = source.inRoom;
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
            Source source = sources[partition];
            source.nextEndNanos = Math.min(source.nextEndNanos, timers.nanoTime());
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
        for (Source source : sources) {
            source.nextDueNanos = now;
            source.nextEndNanos = now;
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
                letGo = new ArrayList<>(underWay);
            }
        } finally {
            lock.unlock();
        }
        letGo.forEach(TransferTask::letLeaseRunOut);
        step();
        if (first) {
            for (Source source : sources) {
                source.claims.close();
            }
            stopped.run();
        }
    }

    private static void letLeaseRunOut(ClaimedDelivery delivery) {
        delivery.settlements().leases().remove(delivery);
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
            Source source = failingLongest();
            return source == null ? Duration.ZERO : Duration.ofNanos(timers.nanoTime() - source.failingSinceNanos);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Throwable lastError() {
        lock.lock();
        try {
            Source source = failingLongest();
            return source == null ? null : source.lastError;
        } finally {
            lock.unlock();
        }
    }

    /** The partition whose claims have been failing for the longest time, or null. Holds the lock. */
    private Source failingLongest() {
        Source longest = null;
        for (Source source : sources) {
            if (source.lastError != null
                    && (longest == null || source.failingSinceNanos - longest.failingSinceNanos < 0)) {
                longest = source;
            }
        }
        return longest;
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
        attemptFailed(0, error);
    }

    /** The same for one of several partitions. */
    void attemptFailed(int partition, Throwable error) {
        attemptFailed(sources[partition], error);
        if (sources.length > 1) {
            step(); // others may have the room that it had asked for
        }
    }

    private void attemptFailed(Source source, Throwable error) {
        boolean first;
        lock.lock();
        try {
            first = source.lastError == null;
            if (first) {
                source.failingSinceNanos = timers.nanoTime();
            }
            source.lastError = error;
            source.asked = 0;
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
        List<Sending> claims = List.of();
        long now;
        lock.lock();
        try {
            now = timers.nanoTime();
            if (mode != Mode.RUNNING) {
                release.addAll(readAhead);
                readAhead.clear();
                cancelTimer();
                for (Source source : sources) {
                    if (source.inRoom && !source.claiming) {
                        leave(source);
                    }
                }
            } else {
                dropOldReadAhead(now, release);
                begin(now, begin, release);
                if (alone != null && sources.length > 1) {
                    // From other partitions, whose claims were under way.
                    release.addAll(readAhead);
                    readAhead.clear();
                }
                claims = nextClaims(now);
                for (Source source : sources) {
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
            Source source = claim.source();
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

    /** The claims to send now: who wants to claim shares the room. Holds the lock. */
    private List<Sending> nextClaims(long now) {
        int endedRoom = endedRoom(now);
        int room = room(now);
        List<Source> wanting = wanting(now, room, endedRoom);
        int left = wanting.size();
        if (left == 0) {
            return List.of();
        }
        int[] messages = new int[left];
        int[] ended = new int[left];
        for (int i = 0; left > 0 && room > 0; i++, left--) {
            Source source = wanting.get(i);
            int share = (room + left - 1) / left;
            messages[i] = Math.min(options.maxMessagesPerPoll(), share);
            ended[i] = Math.min(messages[i], (endedRoom + left - 1) / left);
            if (ended[i] == 0 && now - source.nextDueNanos < 0) {
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
    private List<Source> wanting(long now, int room, int endedRoom) {
        if (now - rejectedUntilNanos < 0) {
            return List.of();
        }
        List<Source> wanting = List.of();
        for (Source source : sources) {
            if (source.claiming || now - source.notBeforeNanos < 0) {
                continue;
            }
            boolean due = now - source.nextDueNanos >= 0 && worthAClaim(room, endedRoom);
            boolean ended = now - source.nextEndNanos >= 0 && endedRoom > 0;
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
            wanting.sort(Comparator.comparingLong(source -> source.claimNumber));
        }
        return wanting;
    }

    /**
     * Holds the lock.
     *
     * @param moreRoom whether there is room for more than all claims that are sent now ask for
     */
    private Sending claim(Source source, long now, int messages, int ended, boolean moreRoom) {
        source.claiming = true;
        source.wokenNanos = Long.MAX_VALUE;
        source.asked = messages;
        source.askedNanos = now;
        source.claimNumber = ++claimed;
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
        if (workNanos >= 0 && workNanos <= QUICK_NANOS) {
            return ClaimRequest.Afterwards.QUICK;
        }
        return moreRoom ? ClaimRequest.Afterwards.KEEPS_WAITING : ClaimRequest.Afterwards.WAITS_IF_GIVEN_LESS;
    }

    /** Says so if this consumer cannot come as it has promised. Holds the lock. */
    private void leaveIfItCannotCome(Source source, long now) {
        if (source.claiming || !source.promised || !cannotCome(source, now) || now - leavesAt(source) < 0) {
            return;
        }
        leave(source);
        if (room(now) == 0) {
            source.nextDueNanos = now; // as soon as there is room
        }
        source.nextEndNanos = Math.min(source.nextEndNanos, now);
    }

    /** Whether it could not claim now for what it has promised to come for. Holds the lock. */
    private boolean cannotCome(Source source, long now) {
        int endedRoom = endedRoom(now);
        return source.nextDueNanos <= source.nextEndNanos ? !worthAClaim(room(now), endedRoom) : endedRoom == 0;
    }

    /**
     * Leaves the waiting room. Holds the lock, so that this call has its number before any claim that follows: it is not
     * waited for.
     */
    private void leave(Source source) {
        source.promised = false;
        source.inRoom = false;
        source.claims.leave(claimIds.get());
    }

    /** Holds the lock. */
    private static long leavesAt(Source source) {
        return Math.min(source.nextDueNanos, source.nextEndNanos) + PATIENCE_NANOS;
    }

    /** How many messages whose lease ended may come. Holds the lock. */
    private int endedRoom(long now) {
        return room(now) == 0 ? 0 : Math.max(0, freeSlots() - readAhead.size() - asked(now));
    }

    /** How many messages the claims under way may still bring. Holds the lock. */
    private int asked(long now) {
        if (sources.length == 1) {
            return 0; // nobody else wants the room
        }
        int asked = 0;
        for (Source source : sources) {
            if (source.claiming && now - source.askedNanos < ANSWER_NANOS) {
                asked += source.asked;
            }
        }
        return asked;
    }

    /** Whether one waits to be begun alone: nothing more is claimed, as it would be lost with it. Holds the lock. */
    private boolean waitsToBeAlone() {
        return !readAhead.isEmpty() && (isSuspicious(readAhead.peek()) || isSuspicious(readAhead.peekLast()));
    }

    /** How many messages may come. Holds the lock. */
    private int room(long now) {
        if (alone != null || waitsToBeAlone()) {
            return 0;
        }
        int asked = asked(now);
        int ahead = readAheadSize(now);
        int room = freeSlots() + ahead - readAhead.size() - asked;
        // While claims are under way a handful is not worth another one: it would go on with one message for each
        // claim.
        int least = asked == 0 ? 1 : Math.max(1, (options.concurrentConsumers() + ahead) / (2 * sources.length));
        return room < least ? 0 : room;
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
        int room = room(now);
        int endedRoom = endedRoom(now);
        boolean waitsForRoom = false;
        for (Source source : sources) {
            if (!source.claiming) {
                next = Math.min(next, nextWait(source, now, room, endedRoom));
                waitsForRoom |= now - source.nextDueNanos >= 0 || now - source.nextEndNanos >= 0;
            }
        }
        if (waitsForRoom) {
            next = Math.min(next, nextRoom(now));
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

    /** How long until a partition needs a step; {@link Long#MAX_VALUE} if it needs none. Holds the lock. */
    private long nextWait(Source source, long now, int room, int endedRoom) {
        long next = Long.MAX_VALUE;
        if (worthAClaim(room, endedRoom)) {
            next = source.nextDueNanos - now;
        } else if (room == 0 && !overdueReported) {
            next = overdueLook() - now;
        }
        if (source.promised && cannotCome(source, now)) {
            next = Math.min(next, leavesAt(source) - now);
        }
        if (endedRoom > 0) {
            next = Math.min(next, source.nextEndNanos - now);
        }
        if (room > 0 && next != Long.MAX_VALUE) {
            next = Math.max(next, Math.max(source.notBeforeNanos, rejectedUntilNanos) - now);
        }
        return next;
    }

    /** How long until a claim that is not answered gives up its room to the other partitions. Holds the lock. */
    private long nextRoom(long now) {
        long next = Long.MAX_VALUE;
        for (Source source : sources) {
            long left = source.askedNanos + ANSWER_NANOS - now;
            if (source.claiming && source.asked > 0 && left > 0) {
                next = Math.min(next, left);
            }
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
        for (Source source : sources) {
            if (!source.claiming) {
                return false;
            }
        }
        return true;
    }

    /** When it is time to ask whether a message is overdue, if this consumer stays full. Holds the lock. */
    private long overdueLook() {
        long head = Long.MAX_VALUE;
        for (Source source : sources) {
            if (!source.claiming) { // else its answer tells, or that there is none
                head = Math.min(head, source.headNanos);
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

    private void answered(Source source, ClaimRequest request, long sentNanos, ClaimReply reply, Throwable error) {
        if (error != null) {
            refused(source, RedisErrors.unwrap(error));
            return;
        }
        boolean recovered;
        boolean tooLate;
        lock.lock();
        try {
            long now = timers.nanoTime();
            source.claiming = false;
            source.asked = 0;
            source.refusals = 0;
            recovered = source.lastError != null && mode != Mode.STOPPED;
            source.lastError = null;
            recovered = recovered && failingLongest() == null;
            overdueReported = false;
            tooLate = now - sentNanos > leaseNanos / 2 && !reply.messages().isEmpty();
            if (tooLate) {
                // All of them go back. Without a pause that would go on and on.
                source.lateAnswers++;
                source.notBeforeNanos = now + Backoff.nanos(source.lateAnswers, random);
            } else {
                source.lateAnswers = 0;
            }
            tooLate = source.lateAnswers == 3;
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                readAhead.add(new ClaimedDelivery(
                        source.queue, message, request.claimId(), reply.timeMicros(), sentNanos, now, this));
            }
            // The earliest of the answer, the wake-ups since the claim was sent, and the safety interval.
            long safety = now + TimeUnit.MICROSECONDS.toNanos(reply.safetyMicros());
            long due = Math.min(safety, after(now, reply.nextDueMicros()));
            long end = Math.min(safety, after(now, reply.nextEndMicros()));
            source.headNanos = Math.min(source.wokenNanos, due);
            source.inRoom = reply.expected() != ClaimReply.Expected.WHEN_IT_HAS_ROOM;
            source.promised = source.inRoom;
            switch (reply.expected()) {
                case BY_EVENT -> {
                    source.nextDueNanos = due;
                    source.nextEndNanos = end;
                }
                case BY_SECOND -> {
                    source.nextDueNanos = Math.min(safety, due + SECOND_NANOS);
                    source.nextEndNanos = Math.min(safety, end + SECOND_NANOS);
                }
                case AFTER_SAFETY_INTERVAL -> {
                    source.nextDueNanos = safety;
                    source.nextEndNanos = safety;
                    source.promised = source.wokenNanos != Long.MAX_VALUE;
                }
                case WHEN_IT_HAS_ROOM -> {
                    source.nextDueNanos = now;
                    source.nextEndNanos = now;
                }
            }
            source.nextDueNanos = Math.min(source.nextDueNanos, source.wokenNanos);
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

    private void refused(Source source, Throwable refusal) {
        Throwable error = RedisErrors.explained(queue, refusal);
        attemptFailed(source, error);
        lock.lock();
        try {
            source.claiming = false;
            source.refusals++;
            source.notBeforeNanos = timers.nanoTime() + Backoff.nanos(source.refusals, random);
            source.nextDueNanos = source.notBeforeNanos;
            source.nextEndNanos = source.notBeforeNanos;
            source.headNanos = source.notBeforeNanos;
        } finally {
            lock.unlock();
        }
        step();
    }

    private void hand(ClaimedDelivery delivery) {
        Settlements partition = delivery.settlements();
        partition.leases().keep(delivery, partition, options, handler);
        if (letLeasesRunOut) {
            letLeaseRunOut(delivery); // it was stopped in between
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
                for (Source source : sources) {
                    source.nextDueNanos = Math.min(source.nextDueNanos, rejectedUntilNanos);
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

    private static long after(long now, long micros) {
        return micros < 0 ? Long.MAX_VALUE : now + saturatedNanos(micros);
    }

    /** Capped at ten years, so that sums with a clock reading stay comparable. */
    private static long saturatedNanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(Math.min(micros, TimeUnit.DAYS.toMicros(3650)));
    }
}
