// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.Timers;
import java.time.Duration;
import java.util.PriorityQueue;

/**
 * Timers on a virtual clock, which moves only when a test says so. The clock begins below zero, as a monotonic clock may.
 */
public final class FakeTimers implements Timers {

    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private long nowNanos = -Duration.ofSeconds(100).toNanos();
    private long scheduled;
    private boolean ignoreCancellation;
    /** The work of others while a timer is being cancelled. */
    public Runnable onCancel = () -> {};

    private final class Task implements Timer, Comparable<Task> {
        final long at;
        final long number;
        final Runnable work;
        boolean cancelled;

        Task(long at, long number, Runnable work) {
            this.at = at;
            this.number = number;
            this.work = work;
        }

        @Override
        public void cancel() {
            onCancel.run();
            synchronized (FakeTimers.this) {
                if (tasks.contains(this)) {
                    cancelled = true;
                    if (!ignoreCancellation) {
                        tasks.remove(this);
                    }
                }
            }
        }

        @Override
        public int compareTo(Task other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(number, other.number);
        }
    }

    @Override
    public synchronized long nanoTime() {
        return nowNanos;
    }

    @Override
    public synchronized Timer schedule(long delayNanos, Runnable work) {
        if (delayNanos < 0) {
            throw new IllegalArgumentException("a delay of " + delayNanos + " ns");
        }
        Task task = new Task(nowNanos + delayNanos, scheduled++, work);
        tasks.add(task);
        return task;
    }

    /** From now on a timer that is cancelled fires all the same, as one does that could not be stopped any more. */
    public synchronized void ignoreCancellation() {
        ignoreCancellation = true;
    }

    /** Moves the clock on and runs what becomes due, each task at its own time. */
    public void advance(Duration duration) {
        long until;
        synchronized (this) {
            until = nowNanos + duration.toNanos();
        }
        while (true) {
            Task next;
            synchronized (this) {
                next = tasks.peek();
                if (next == null || next.at > until) {
                    nowNanos = until;
                    return;
                }
                tasks.poll();
                nowNanos = Math.max(nowNanos, next.at);
            }
            next.work.run();
        }
    }

    /** Moves the clock on without running anything, as a machine does that sleeps. */
    public synchronized void jump(Duration duration) {
        nowNanos += duration.toNanos();
    }

    /** How many timers wait that were not cancelled. */
    public synchronized int waiting() {
        return (int) tasks.stream().filter(task -> !task.cancelled).count();
    }

    /** How many timers were ever set. */
    public synchronized long scheduled() {
        return scheduled;
    }

    /** How long until the next timer fires, or null if there is none. */
    public synchronized Duration next() {
        return tasks.stream()
                .filter(task -> !task.cancelled)
                .min(Task::compareTo)
                .map(task -> Duration.ofNanos(Math.max(0, task.at - nowNanos)))
                .orElse(null);
    }
}
