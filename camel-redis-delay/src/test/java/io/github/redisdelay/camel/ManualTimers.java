// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Timers on a clock that moves only when a test says so. For one thread. */
final class ManualTimers implements ConsumerTimers {

    private final List<Task> tasks = new ArrayList<>();
    private long now = -Duration.ofSeconds(100).toNanos();

    private record Task(long at, Runnable work) {}

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Runnable schedule(Duration delay, Runnable work) {
        Task task = new Task(now + delay.toNanos(), work);
        tasks.add(task);
        return () -> tasks.removeIf(other -> other == task);
    }

    /** Moves the clock on and runs what becomes due, each task at its own time. */
    void advance(Duration duration) {
        long until = now + duration.toNanos();
        while (true) {
            Task next = tasks.stream()
                    .filter(task -> task.at() <= until)
                    .min(Comparator.comparingLong(Task::at))
                    .orElse(null);
            if (next == null) {
                now = until;
                return;
            }
            tasks.remove(next);
            now = Math.max(now, next.at());
            next.work().run();
        }
    }

    int waiting() {
        return tasks.size();
    }
}
