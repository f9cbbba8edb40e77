// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.Timers;
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
 * The client's one subscription, to a channel of its own: hears that a queue counts on one of its consumers (see
 * {@code wakeup.lua}).
 *
 * <p>Subscribed while there is a consumer. It does not trust the subscription: it publishes an echo to itself every 25 s,
 * and where that does not come back it subscribes again. After each (re-)subscription every consumer makes a pass, so
 * that what became due while nobody listened is delivered.
 *
 * <p>Messages are text: {@code <wait in microseconds> <base key of the queue>}, or {@code echo <client>}.
 */
public final class WakeupChannel {

    private static final Logger LOG = LoggerFactory.getLogger(WakeupChannel.class);

    static final long ECHO_NANOS = TimeUnit.SECONDS.toNanos(25);

    /** How long an echo may take. */
    static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RTopic topic;
    private final String client;
    private final Timers timers;
    private final RandomGenerator random;
    private final Map<String, Set<Sleeper>> sleepers = new ConcurrentHashMap<>();

    private final Object lock = new Object();

    // All below are guarded by lock.
    private enum State {
        NONE,
        SUBSCRIBING,
        SUBSCRIBED,
        UNSUBSCRIBING
    }

    private State state = State.NONE;
    private int listeners;
    private int sleeping;
    private int failures;
    private int messageListener;
    private int statusListener;
    private boolean echoSeen;
    private Timers.Timer timer;
    private boolean closed;
    private CompletableFuture<Void> subscribed = new CompletableFuture<>();

    /** Someone who waits for a queue. */
    interface Sleeper {
        /** A message is due in this many microseconds. */
        void wakeUp(long waitMicros);

        /** Wake-ups may have been missed. */
        void makePass();
    }

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
    CompletableFuture<Void> add(String base, Sleeper sleeper) {
        synchronized (lock) {
            sleepers.compute(base, (key, set) -> {
                Set<Sleeper> all = set == null ? ConcurrentHashMap.newKeySet() : set;
                all.add(sleeper);
                return all;
            });
            sleeping++;
            if (state == State.NONE && timer == null) {
                subscribe();
            }
            return subscribed;
        }
    }

    void remove(String base, Sleeper sleeper) {
        synchronized (lock) {
            sleepers.computeIfPresent(base, (key, set) -> {
                if (set.remove(sleeper)) {
                    sleeping--;
                }
                return set.isEmpty() ? null : set;
            });
            if (sleeping == 0) {
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
        CompletableFuture<Integer> added;
        CompletableFuture<Integer> status;
        try {
            added = topic.addListenerAsync(byte[].class, (channel, message) -> heard(message))
                    .toCompletableFuture();
            status = topic.addListenerAsync(new StatusListener() {
                        @Override
                        public void onSubscribe(String channel) {
                            passAll();
                        }

                        @Override
                        public void onUnsubscribe(String channel) {
                            // The echo notices.
                        }
                    })
                    .toCompletableFuture();
        } catch (RuntimeException e) {
            added = CompletableFuture.failedFuture(e);
            status = added;
        }
        CompletableFuture<Integer> first = added;
        CompletableFuture<Integer> second = status;
        CompletableFuture.allOf(added, status).whenComplete((none, error) -> {
            listenerIds(first, second);
            subscribed(error);
        });
    }

    private void listenerIds(CompletableFuture<Integer> message, CompletableFuture<Integer> status) {
        synchronized (lock) {
            messageListener = message.isCompletedExceptionally() ? 0 : message.join();
            statusListener = status.isCompletedExceptionally() ? 0 : status.join();
        }
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
                if (sleeping > 0 && !closed) {
                    timer = timers.schedule(Backoff.nanos(failures, random), this::retry);
                }
                return;
            }
            if (failures >= 3) {
                LOG.info("channel '{}' is subscribed to again", name());
            }
            failures = 0;
            state = State.SUBSCRIBED;
            if (sleeping == 0 || closed) {
                unsubscribe();
                return;
            }
            done = subscribed;
            cancelTimer();
            timer = timers.schedule(ECHO_NANOS, this::echo);
        }
        if (!done.complete(null)) {
            passAll();
        }
    }

    private void retry() {
        synchronized (lock) {
            timer = null;
            if (state == State.NONE && sleeping > 0 && !closed) {
                subscribe();
            }
        }
    }

    /** Holds the lock. */
    private void unsubscribe() {
        subscribed = new CompletableFuture<>();
        unsubscribeAndGoOn();
    }

    /** Ends the subscription, and begins another one if somebody listens by then. Holds the lock. */
    private void unsubscribeAndGoOn() {
        state = State.UNSUBSCRIBING;
        removeListeners().whenComplete((none, error) -> {
            synchronized (lock) {
                state = State.NONE;
                if (sleeping > 0 && !closed) {
                    subscribe();
                }
            }
        });
    }

    /** Holds the lock. */
    private CompletableFuture<Void> removeListeners() {
        List<Integer> ids = new ArrayList<>(2);
        if (messageListener != 0) {
            ids.add(messageListener);
        }
        if (statusListener != 0) {
            ids.add(statusListener);
        }
        messageListener = 0;
        statusListener = 0;
        if (ids.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            return topic.removeListenerAsync(ids.toArray(Integer[]::new)).toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Publishes to ourselves. */
    private void echo() {
        synchronized (lock) {
            timer = null;
            if (state != State.SUBSCRIBED || sleeping == 0 || closed) {
                return;
            }
            echoSeen = false;
            timer = timers.schedule(PATIENCE_NANOS, this::checkEcho);
        }
        topic.publishAsync(("echo " + client).getBytes(StandardCharsets.UTF_8));
    }

    /** An echo that was not heard means that the subscription is dead, or that Redis is away. */
    private void checkEcho() {
        synchronized (lock) {
            timer = null;
            if (state != State.SUBSCRIBED || sleeping == 0 || closed) {
                return;
            }
            if (echoSeen) {
                timer = timers.schedule(ECHO_NANOS - PATIENCE_NANOS, this::echo);
                return;
            }
            // What it means for deliveries is told where they fail, and where the next subscription does.
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
            wait = 0; // not ours; a look does no harm
        }
        for (Sleeper sleeper : sleepers.getOrDefault(who, Set.of())) {
            sleeper.wakeUp(wait);
        }
    }

    /** Has everybody look now. */
    void passAll() {
        sleepers.values().forEach(set -> set.forEach(Sleeper::makePass));
    }

    /** Holds the lock. */
    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** How many wait for wake-ups. */
    public int sleeping() {
        synchronized (lock) {
            return sleeping;
        }
    }

    /** Ends the subscription for good. */
    CompletableFuture<Void> close() {
        synchronized (lock) {
            closed = true;
            cancelTimer();
            sleepers.clear();
            sleeping = 0;
            if (state == State.SUBSCRIBED) {
                state = State.UNSUBSCRIBING;
                return removeListeners();
            }
            return CompletableFuture.completedFuture(null);
        }
    }
}
