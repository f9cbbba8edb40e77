// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Runs what it was given when a test says so, or at once, or refuses it. */
public final class ManualExecutor implements Executor {

    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean atOnce = true;
    private boolean rejecting;
    private int rejected;

    @Override
    public void execute(Runnable task) {
        if (rejecting) {
            rejected++;
            throw new RejectedExecutionException("no thread");
        }
        if (atOnce) {
            task.run();
        } else {
            tasks.add(task);
        }
    }

    public void hold() {
        atOnce = false;
    }

    public void reject(boolean reject) {
        rejecting = reject;
    }

    public int rejected() {
        return rejected;
    }

    public int waiting() {
        return tasks.size();
    }

    public void runAll() {
        while (!tasks.isEmpty()) {
            tasks.poll().run();
        }
    }
}
