// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.history.History;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Works on messages for up to 100 ms, on a few for longer than their lease, returns some, and acknowledges the others.
 * Records all of it. What it does with a message follows from the seed, the id and the attempt; of a run of a recurring
 * schedule, from its time as well.
 */
final class LoadConsumer implements DeliveryHandler, AutoCloseable {

    /** Where the work on a message is. */
    enum Step {
        /** The handler has it. */
        BEGUN,
        /** Half of the work is done. */
        WORKING,
        /** The work is done, and not acknowledged. */
        WORKED,
        /** The acknowledgement was submitted. */
        ACKNOWLEDGING
    }

    private static final int MAX_WORK_MILLIS = 100;
    private static final int MAX_RETURN_MILLIS = 300;
    /** Half of the work ends at multiples of it, so that acknowledgements share calls, also on a fast machine. */
    private static final long TOGETHER_MILLIS = 50;

    private final History history;
    private final Duration lease;
    private final long seed;
    private final Consumer<Step> steps;
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(4, task -> {
        Thread thread = new Thread(task, "load-consumer");
        thread.setDaemon(true);
        return thread;
    });

    /** @param steps told of each step, on the thread that works */
    LoadConsumer(History history, Duration lease, long seed, Consumer<Step> steps) {
        this.history = history;
        this.lease = lease;
        this.seed = seed;
        this.steps = steps;
    }

    /** Begins to consume. */
    void consume(DelayQueue queue, int concurrentConsumers) {
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrentConsumers)
                .withVisibilityTimeout(lease);
        queue.consume(options, workers, this);
    }

    @Override
    public void handle(Delivery delivery) {
        history.delivered(delivery);
        steps.accept(Step.BEGUN);
        boolean run = delivery.rule() != null; // of a recurring schedule, whose runs are of one id and body
        if (!run && !Arrays.equals(delivery.body(), LoadProducer.body(delivery.id()))) {
            history.garbled(delivery);
        }
        // Mixed well: neighbouring seeds of Random give neighbouring first numbers.
        long time = run ? delivery.firstDueMicros() : 0;
        long mixed = (seed * 31 + delivery.id().hashCode() + time + delivery.attempt()) * 0x9E3779B97F4A7C15L;
        int dice = (int) ((mixed >>> 40) % 1000);
        long work = (mixed >>> 20) % MAX_WORK_MILLIS;
        boolean tooLong = dice < 10;
        boolean giveBack = dice >= 950 && delivery.attempt() < 5;
        long half = tooLong ? lease.toMillis() * 11 / 20 : work / 2;
        after(half, () -> {
            steps.accept(Step.WORKING);
            after(mixed % 2 == 0 ? half : together(half), () -> {
                steps.accept(Step.WORKED);
                finish(delivery, giveBack ? Duration.ofMillis((mixed >>> 10) % MAX_RETURN_MILLIS) : null);
                steps.accept(Step.ACKNOWLEDGING);
            });
        });
    }

    private void finish(Delivery delivery, Duration returned) {
        Submission<SettleResult> sent;
        if (returned != null) {
            history.settling(delivery, Finish.RETRY, returned.toNanos() / 1000);
            sent = delivery.settle(new Settlement.Retry(returned, new byte[0]));
        } else {
            history.settling(delivery, Finish.ACKNOWLEDGE, 0);
            sent = delivery.settle(Settlement.ACKNOWLEDGE);
        }
        sent.outcome().whenComplete((settlement, error) -> {
            if (error == null) {
                history.settled(delivery, settlement);
            } else {
                history.failed(delivery, error);
            }
        });
    }

    /** A little longer, until a time at which others end, too. */
    private static long together(long millis) {
        long end = System.nanoTime() / 1_000_000 + millis;
        return millis + TOGETHER_MILLIS - Math.floorMod(end, TOGETHER_MILLIS);
    }

    private void after(long millis, Runnable task) {
        workers.schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
