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
    private Error error;
    private int rejected;

    @Override
    public void execute(Runnable task) {
        if (rejecting) {
            rejected++;
            if (error != null) {
                throw error;
            }
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

    /** From now on it refuses what it is given by an error, as a pool that gets no thread from the system. */
    public void fail(Error with) {
        rejecting = true;
        error = with;
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
