// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Resources with reference counts: the first user of a key makes one, users of an equal key share it, and the last one
 * closes it. Thread-safe. Making and closing a resource does not block users of other keys.
 */
public final class RefCounted<K, R> {

    /** Makes a resource; may block. */
    interface Factory<K, R> {
        R create(K key) throws Exception;
    }

    private final Factory<K, R> factory;
    private final Consumer<R> closer;
    private final Map<K, Entry> entries = new HashMap<>(); // guarded by itself

    RefCounted(Factory<K, R> factory, Consumer<R> closer) {
        this.factory = factory;
        this.closer = closer;
    }

    /**
     * A share in the resource for a key, which the caller releases.
     *
     * @throws Exception as the factory; the next call tries again
     */
    Reference<R> acquire(K key) throws Exception {
        Entry entry;
        synchronized (entries) {
            entry = entries.computeIfAbsent(key, Entry::new);
            entry.shares++;
        }
        try {
            entry.open();
        } catch (Throwable e) {
            entry.release();
            throw e;
        }
        return entry;
    }

    /** A share in the resource for a key, which the caller releases, if there is one. Makes none, and does not block. */
    Optional<Reference<R>> acquireOpen(K key) {
        synchronized (entries) {
            Entry entry = entries.get(key);
            return entry == null || entry.resource == null ? Optional.empty() : Optional.of(entry.retain());
        }
    }

    /** The number of resources. */
    int size() {
        synchronized (entries) {
            return entries.size();
        }
    }

    /** Closes all resources, even those in use. */
    void closeAll() {
        List<Entry> all;
        synchronized (entries) {
            all = new ArrayList<>(entries.values());
            entries.clear();
        }
        all.forEach(Entry::shut);
    }

    /** A share in a resource. */
    public interface Reference<R> {

        R get();

        /** One more share in the same resource. Only the owner of a share may ask for it. */
        Reference<R> retain();

        /** Gives up this share. The last share closes the resource, which may take a while. */
        default void release() {
            release(Runnable::run);
        }

        /** As {@link #release()}, but the executor closes the resource: for threads that must not be blocked. */
        void release(Executor executor);
    }

    private final class Entry implements Reference<R> {

        private final K key;
        /** The number of shares. An entry without one is not among the entries any more. */
        private int shares; // guarded by entries

        private final ReentrantLock opening = new ReentrantLock();
        private volatile R resource; // written under opening
        private boolean shut; // guarded by opening

        Entry(K key) {
            this.key = key;
        }

        void open() throws Exception {
            if (resource != null) {
                return;
            }
            opening.lock();
            try {
                if (resource == null) {
                    if (shut) {
                        throw new IllegalStateException("is being stopped");
                    }
                    resource = factory.create(key);
                }
            } finally {
                opening.unlock();
            }
        }

        @Override
        public R get() {
            return resource;
        }

        @Override
        public Reference<R> retain() {
            synchronized (entries) {
                shares++;
            }
            return this;
        }

        @Override
        public void release(Executor executor) {
            synchronized (entries) {
                shares--;
                if (shares > 0) {
                    return;
                }
                entries.remove(key, this);
            }
            executor.execute(this::shut);
        }

        void shut() {
            opening.lock();
            try {
                if (!shut && resource != null) {
                    closer.accept(resource);
                }
                shut = true;
            } finally {
                opening.unlock();
            }
        }
    }
}
