// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs experiments a few at a time, because they mostly wait; each has a server of its own. A test then asks for the one that
 * it is about.
 */
final class SideBySide<K> implements AutoCloseable {

    /** One experiment. */
    interface Run<K> {
        void on(K key) throws Exception;
    }

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
            results.get(key).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof AssertionError failed) {
                throw failed;
            }
            throw e;
        }
    }

    /** Ends what is still running. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
