// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.redis.Backoff;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.redisson.api.RTopic;
import org.redisson.api.listener.StatusListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's one subscription, to a channel of its own. By it a queue wakes the consumers that it counts on (see
 * {@code wakeup.lua}).
 *
 * <p>The channel is subscribed to while there is a listener. Redisson subscribes again where a connection was lost. After
 * each (re-)subscription every listener checks its queue now, so that messages which became due while nobody listened are
 * delivered. Whoever hears nothing claims at its turn.
 *
 * <p>Messages are text: {@code <version of this form> <wait in microseconds> <base key of the queue>}.
 */
public final class WakeupChannel {

    private static final Logger LOG = LoggerFactory.getLogger(WakeupChannel.class);

    private final RTopic topic;
    private final Timers timers;
    private final RandomGenerator random;
    private final Map<String, Set<WakeupListener>> listenersOf = new ConcurrentHashMap<>();

    private final Object lock = new Object();

    // All below are guarded by lock.
    private enum State {
        NONE,
        SUBSCRIBING,
        SUBSCRIBED,
        UNSUBSCRIBING
    }

    private State state = State.NONE;
    private int listening;
    private int failures;
    /** The listeners that Redisson has. */
    private final List<Integer> listenerIds = new ArrayList<>(2);

    /** Of the next try to subscribe; null if there is none. */
    private Timers.Timer retry;

    private boolean closed;
    private CompletableFuture<Void> subscribed = new CompletableFuture<>();

    WakeupChannel(RTopic topic, Timers timers, RandomGenerator random) {
        this.topic = topic;
        this.timers = timers;
        this.random = random;
    }

    /** The channel's name as Redis knows it. */
    public String name() {
        return topic.getChannelNames().get(0);
    }

    /**
     * Begins to listen for a queue.
     *
     * @return completes when the subscription stands
     */
    CompletableFuture<Void> add(String base, WakeupListener listener) {
        synchronized (lock) {
            listenersOf.compute(base, (key, set) -> {
                Set<WakeupListener> all = set == null ? ConcurrentHashMap.newKeySet() : set;
                all.add(listener);
                return all;
            });
            listening++;
            if (state == State.NONE && retry == null) {
                subscribe();
            }
            return subscribed;
        }
    }

    void remove(String base, WakeupListener listener) {
        synchronized (lock) {
            listenersOf.computeIfPresent(base, (key, set) -> {
                if (set.remove(listener)) {
                    listening--;
                }
                return set.isEmpty() ? null : set;
            });
            if (listening == 0) {
                cancelRetry();
                if (state == State.SUBSCRIBED) {
                    unsubscribe();
                }
            }
        }
    }

    /** Holds the lock. */
    private void subscribe() {
        state = State.SUBSCRIBING;
        List<CompletableFuture<Integer>> added = new ArrayList<>(2);
        try {
            added.add(topic.addListenerAsync(byte[].class, (channel, message) -> heard(message))
                    .toCompletableFuture());
            added.add(topic.addListenerAsync(new StatusListener() {
                        @Override
                        public void onSubscribe(String channel) {
                            checkAll();
                        }

                        @Override
                        public void onUnsubscribe(String channel) {
                            // Redisson subscribes again, or it was us.
                        }
                    })
                    .toCompletableFuture());
        } catch (RuntimeException e) {
            added.add(CompletableFuture.failedFuture(e));
        }
        CompletableFuture.allOf(added.toArray(CompletableFuture<?>[]::new)).whenComplete((none, error) -> {
            synchronized (lock) {
                added.stream()
                        .filter(listener -> !listener.isCompletedExceptionally())
                        .forEach(listener -> listenerIds.add(listener.join()));
            }
            subscribed(error);
        });
    }

    private void subscribed(Throwable error) {
        CompletableFuture<Void> done;
        synchronized (lock) {
            if (error != null) {
                failures++;
                if (failures == 3) {
                    LOG.warn(
                            "channel '{}' cannot be subscribed to: deliveries may be late by 2 s; trying on: {}",
                            name(),
                            ErrorText.of(ErrorText.unwrap(error)));
                }
                removeListeners();
                state = State.NONE;
                if (listening > 0 && !closed) {
                    retry = timers.schedule(Backoff.nanos(failures, random), this::subscribeAgain);
                }
                return;
            }
            if (failures >= 3) {
                LOG.info("channel '{}' is subscribed to again", name());
            }
            failures = 0;
            state = State.SUBSCRIBED;
            if (listening == 0 || closed) {
                unsubscribe();
                return;
            }
            done = subscribed;
        }
        done.complete(null);
    }

    private void subscribeAgain() {
        synchronized (lock) {
            retry = null;
            if (state == State.NONE && listening > 0 && !closed) {
                subscribe();
            }
        }
    }

    /** Ends the subscription, and begins another one if there is a listener by then. Holds the lock. */
    private void unsubscribe() {
        subscribed = new CompletableFuture<>();
        state = State.UNSUBSCRIBING;
        removeListeners().whenComplete((none, error) -> {
            synchronized (lock) {
                state = State.NONE;
                if (listening > 0 && !closed) {
                    subscribe();
                }
            }
        });
    }

    /** Holds the lock. */
    private CompletableFuture<Void> removeListeners() {
        if (listenerIds.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        Integer[] ids = listenerIds.toArray(Integer[]::new);
        listenerIds.clear();
        try {
            return topic.removeListenerAsync(ids).toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void heard(byte[] message) {
        // Version, wait, base key. One of another version is no reason not to check.
        String[] parts = new String(message, StandardCharsets.UTF_8).split(" ", 3);
        if (parts.length < 3) {
            return;
        }
        long wait;
        try {
            wait = parts[0].equals("1") ? Math.max(0, Long.parseLong(parts[1])) : 0;
        } catch (NumberFormatException e) {
            wait = 0; // not from a script of ours; to check does no harm
        }
        for (WakeupListener listener : listenersOf.getOrDefault(parts[2], Set.of())) {
            listener.wakeUp(wait);
        }
    }

    /** Has all listeners check their queues now. */
    void checkAll() {
        listenersOf.values().forEach(set -> set.forEach(WakeupListener::checkNow));
    }

    /** Holds the lock. */
    private void cancelRetry() {
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
    }

    /** The number of listeners. */
    public int listening() {
        synchronized (lock) {
            return listening;
        }
    }

    /** Ends the subscription for good. */
    CompletableFuture<Void> close() {
        synchronized (lock) {
            closed = true;
            cancelRetry();
            listenersOf.clear();
            listening = 0;
            if (state == State.SUBSCRIBED) {
                state = State.UNSUBSCRIBING;
                return removeListeners();
            }
            return CompletableFuture.completedFuture(null);
        }
    }
}
