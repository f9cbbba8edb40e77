// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.History;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Schedules messages at a steady rate, some at once and most with a delay of up to a second, reschedules some and cancels
 * some. Where it gets no answer it schedules half of the messages again under the same id, as a careful application does; where a
 * message is stored and not replicated, it waits until it is. Records all of it.
 */
final class LoadProducer implements AutoCloseable {

    /** Several at a time, so that some wait for a call under way and share the next one, also on a fast machine. */
    private static final long TICK_MILLIS = 50;

    private static final int RETRY_MILLIS = 200;
    private static final int MAX_DELAY_MILLIS = 1000;
    private static final Duration MAX_DELAY = Duration.ofMillis(MAX_DELAY_MILLIS);
    /** A message that was confirmed before that is not changed any more. */
    static final Duration CHANGED_WITHIN = MAX_DELAY.plusMillis(4 * TICK_MILLIS);

    private final DelayQueue queue;
    private final History history;
    private final String name;
    private final int perTick;
    /** How many groups its messages have; 0 for none. */
    private final int groups;
    /** Used by the timer's thread only. */
    private final Random random;
    /** Used by the timer's thread only. */
    private int number;

    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger confirmed = new AtomicInteger();

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "load-producer");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * @param name what its ids begin with: no other producer has it
     * @param perSecond how many messages, a multiple of 20
     */
    LoadProducer(DelayQueue queue, History history, String name, int perSecond, long seed) {
        this(queue, history, name, perSecond, seed, 0);
    }

    /** @param groups how many groups its messages have; 0 for none */
    LoadProducer(DelayQueue queue, History history, String name, int perSecond, long seed, int groups) {
        this.queue = queue;
        this.groups = groups;
        this.history = history;
        this.name = name;
        this.perTick = (int) (perSecond * TICK_MILLIS / 1000);
        this.random = new Random(seed);
        timer.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The body of a message; the consumer compares. */
    static byte[] body(String id) {
        return ("body of " + id).getBytes(StandardCharsets.UTF_8);
    }

    private void tick() {
        for (int i = 0; i < perTick; i++) {
            int delay = random.nextInt(4) == 0 ? 0 : random.nextInt(MAX_DELAY_MILLIS);
            schedule(name + "-" + number++, Duration.ofMillis(delay));
        }
    }

    private void schedule(String id, Duration delay) {
        boolean again = random.nextBoolean();
        boolean cancel = random.nextInt(20) == 0;
        boolean reschedule = random.nextInt(10) == 0;
        int changeMillis = random.nextInt(MAX_DELAY_MILLIS);
        String group = group(id);
        history.scheduling(id, delay.toNanos() / 1000, null, group);
        underWay.incrementAndGet();
        Submission<ScheduleResult> sent = queue.schedule(ScheduleRequest.of(id, body(id), DueTime.after(delay))
                .withGroup(group)
                .withOnDuplicate(DuplicatePolicy.IGNORE));
        sent.outcome().whenComplete((result, error) -> underWay.decrementAndGet());
        sent.result().whenComplete((result, error) -> {
            if (error == null) {
                history.scheduled(id, result);
                confirmed.incrementAndGet();
                if (cancel) {
                    later(together(changeMillis), () -> cancel(id));
                }
                if (reschedule) {
                    // Never to an earlier time than it was due at, which the judge would not know.
                    later(together(changeMillis), () -> reschedule(id));
                }
            } else if (isRefusal(error)) {
                history.refused(id, error.getMessage());
            } else if (error instanceof ReplicationTimeoutException) {
                history.unknown(id, error.getMessage());
                later(RETRY_MILLIS, () -> confirm(id, sent));
            } else {
                history.unknown(id, String.valueOf(error.getMessage()));
                sent.outcome().thenAccept(late -> history.scheduled(id, late));
                if (again) {
                    later(RETRY_MILLIS, () -> schedule(id, delay));
                }
            }
        });
    }

    /**
     * Tells whether more is confirmed than is under way. After a standstill of the machine many calls are sent at once.
     */
    boolean hasConfirmedMost() {
        return confirmed.get() > underWay.get();
    }

    /** Tells whether it says that nothing was stored, nor will be. */
    private static boolean isRefusal(Throwable error) {
        return error instanceof RequestTimeoutException timeout
                ? !timeout.isPossiblyStored()
                : String.valueOf(error.getMessage()).contains("nothing was stored");
    }

    /** Waits until what is stored is replicated, too. After a failover nobody can tell, for as long as it asks. */
    private void confirm(String id, Submission<ScheduleResult> sent) {
        sent.confirm().whenComplete((result, error) -> {
            if (error == null) {
                history.scheduled(id, result);
            } else {
                later(RETRY_MILLIS, () -> confirm(id, sent));
            }
        });
    }

    /** Half of the groups have three quarters of the messages, so that some of these wait for each other. */
    private String group(String id) {
        int hash = id.hashCode() * 0x9E3779B9 >>> 1;
        return groups == 0 ? null : "g" + hash / 2 % (hash % 2 == 0 ? groups : groups / 2);
    }

    /** Of a queue with partitions, the group has chosen one. */
    private DelayQueue queueOf(String id) {
        return groups == 0 ? queue : queue.group(group(id)).queue();
    }

    private void reschedule(String id) {
        String move = history.moving(id);
        queueOf(id)
                .reschedule(id, DueTime.after(MAX_DELAY))
                .outcome()
                .thenAccept(result -> history.moved(move, result));
    }

    private void cancel(String id) {
        history.cancelling(id);
        queueOf(id).cancel(id).outcome().whenComplete((result, error) -> {
            if (error == null) {
                history.cancelled(id, result.previousState());
            } else {
                history.cancelFailed(id, error);
            }
        });
    }

    /** A little later, when others change something, too: their requests share a call. */
    private static int together(int millis) {
        long at = System.nanoTime() / 1_000_000 + millis;
        return millis + (int) (TICK_MILLIS - Math.floorMod(at, TICK_MILLIS));
    }

    private void later(int millis, Runnable task) {
        if (!timer.isShutdown()) {
            timer.schedule(task, millis, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Schedules no more, and waits until nothing can be stored later: calls are repeated, also when nobody waits for
     * them.
     */
    void end() {
        close();
        // Two answers that are lost: from the fifth time on a call waits 16 s.
        await("calls of " + name)
                .atMost(Experiment.SAFETY_INTERVAL.plusSeconds(30))
                .until(() -> underWay.get() == 0);
    }

    /** Schedules no more; answers are still recorded. */
    @Override
    public void close() {
        timer.shutdownNow();
        try {
            if (!timer.awaitTermination(30, TimeUnit.SECONDS)) {
                throw new AssertionError("the producer does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
