// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.opentest4j.TestAbortedException;

/**
 * Runs experiments a few at a time, because they mostly wait; each has a server of its own. A test then asks for the
 * one that it is about.
 */
final class SideBySide<K> implements AutoCloseable {

    /** One experiment. */
    interface Run<K> {
        void on(K key) throws Exception;
    }

    /** An experiment takes a minute on a busy machine; what takes so long is stuck. */
    private static final long LIMIT_MINUTES = 10;

    private final ExecutorService executor;
    private final Map<K, Future<?>> results = new LinkedHashMap<>();

    /** Begins the first ones. */
    SideBySide(int atATime, Collection<K> keys, Run<K> run) {
        executor = Executors.newFixedThreadPool(atATime);
        for (K key : keys) {
            results.put(key, executor.submit(() -> {
                run.on(key);
                return null;
            }));
        }
    }

    /** Waits for the end of an experiment, and throws what it has thrown. */
    void result(K key) throws Exception {
        try {
            results.get(key)
                    .get(
                            LIMIT_MINUTES * Experiment.rounds() + LIMIT_MINUTES + OverloadBench.minutes(),
                            TimeUnit.MINUTES);
        } catch (TimeoutException e) {
            StringBuilder threads = new StringBuilder();
            Thread.getAllStackTraces().forEach((thread, stack) -> {
                threads.append(thread).append('\n');
                for (StackTraceElement element : stack) {
                    threads.append("    ").append(element).append('\n');
                }
            });
            throw new AssertionError(key + " does not end\n" + threads, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof AssertionError failed) {
                throw failed;
            }
            if (e.getCause() instanceof TestAbortedException skipped) {
                throw skipped;
            }
            throw e;
        }
    }

    /** Ends what is still running, and waits for that: its servers must not disturb others. */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            if (!executor.awaitTermination(2, TimeUnit.MINUTES)) {
                throw new AssertionError("an experiment does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
