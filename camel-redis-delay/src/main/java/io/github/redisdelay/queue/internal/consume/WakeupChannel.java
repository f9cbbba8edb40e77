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
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.redisson.api.RTopic;
import org.redisson.api.listener.StatusListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's one subscription, to a channel of its own. By it a queue wakes the consumers that it counts on (see
 * {@code wakeup.lua}).
 *
 * <p>The channel is subscribed to while there is a listener. The subscription is not trusted: the client publishes an
 * echo to itself every 25 s, and subscribes again if the echo does not come back. After each (re-)subscription every
 * listener checks its queue now, so that messages which became due while nobody listened are delivered.
 *
 * <p>Messages are text: {@code <wait in microseconds> <base key of the queue>}, or {@code echo <client>}.
 */
public final class WakeupChannel {

    private static final Logger LOG = LoggerFactory.getLogger(WakeupChannel.class);

    static final long ECHO_NANOS = TimeUnit.SECONDS.toNanos(25);

    /** The time that an echo may take. */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RTopic topic;
    private final String client;
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

    private boolean echoSeen;
    private Timers.Timer timer;
    private boolean closed;
    private CompletableFuture<Void> subscribed = new CompletableFuture<>();

    WakeupChannel(RTopic topic, String client, Timers timers, RandomGenerator random) {
        this.topic = topic;
        this.client = client;
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
            if (state == State.NONE && timer == null) {
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
                cancelTimer();
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
                            // The missing echo is noticed.
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
        CompletableFuture<Void> done = null;
        synchronized (lock) {
            if (error != null) {
                failures++;
                if (failures == 3) {
                    LOG.warn(
                            "channel '{}' cannot be subscribed to: deliveries may be late by the safety interval (30 s, more where many consumers wait); trying on: {}",
                            name(),
                            ErrorText.of(ErrorText.unwrap(error)));
                }
                removeListeners();
                state = State.NONE;
                if (listening > 0 && !closed) {
                    timer = timers.schedule(Backoff.nanos(failures, random), this::retry);
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
            cancelTimer();
            timer = timers.schedule(ECHO_NANOS, this::echo);
        }
        if (!done.complete(null)) {
            checkAll();
        }
    }

    private void retry() {
        synchronized (lock) {
            timer = null;
            if (state == State.NONE && listening > 0 && !closed) {
                subscribe();
            }
        }
    }

    /** Holds the lock. */
    private void unsubscribe() {
        subscribed = new CompletableFuture<>();
        unsubscribeAndGoOn();
    }

    /** Ends the subscription, and begins another one if there is a listener by then. Holds the lock. */
    private void unsubscribeAndGoOn() {
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

    /** Publishes to ourselves. */
    private void echo() {
        synchronized (lock) {
            timer = null;
            if (state != State.SUBSCRIBED || listening == 0 || closed) {
                return;
            }
            echoSeen = false;
            timer = timers.schedule(PATIENCE_NANOS, this::checkEcho);
        }
        topic.publishAsync(("echo " + client).getBytes(StandardCharsets.UTF_8));
    }

    /** An echo that did not come back means that the subscription is dead, or that Redis is away. */
    private void checkEcho() {
        synchronized (lock) {
            timer = null;
            if (state != State.SUBSCRIBED || listening == 0 || closed) {
                return;
            }
            if (echoSeen) {
                timer = timers.schedule(ECHO_NANOS - PATIENCE_NANOS, this::echo);
                return;
            }
            // Claims and the next subscription report it if they fail, too.
            LOG.debug("channel '{}': an echo did not come back, it is subscribed to again", name());
            unsubscribeAndGoOn();
        }
    }

    private void heard(byte[] message) {
        String text = new String(message, StandardCharsets.UTF_8);
        int space = text.indexOf(' ');
        if (space < 0) {
            return;
        }
        String what = text.substring(0, space);
        String who = text.substring(space + 1);
        if (what.equals("echo")) {
            if (who.equals(client)) {
                synchronized (lock) {
                    echoSeen = true;
                }
            }
            return;
        }
        long wait;
        try {
            wait = Math.max(0, Long.parseLong(what));
        } catch (NumberFormatException e) {
            wait = 0; // not from a script of ours; to check does no harm
        }
        for (WakeupListener listener : listenersOf.getOrDefault(who, Set.of())) {
            listener.wakeUp(wait);
        }
    }

    /** Has all listeners check their queues now. */
    void checkAll() {
        listenersOf.values().forEach(set -> set.forEach(WakeupListener::checkNow));
    }

    /** Holds the lock. */
    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
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
            cancelTimer();
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
