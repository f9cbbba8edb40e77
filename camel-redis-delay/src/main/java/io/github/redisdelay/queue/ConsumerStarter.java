// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;
import org.redisson.config.SubscriptionMode;

/**
 * The consumers and receivers of a client, with what they share: the subscription to wake-ups, the extension of leases, and the
 * numbers of their claim sessions. Thread-safe.
 */
final class ConsumerStarter {

    private final RedisCaller redis;
    private final ClientOptions options;
    private final ClientSessions sessions;
    private final SingleCalls calls;
    private final Timers timers;
    private final RandomGenerator random;
    private final WakeupChannel wakeups;
    private final LeaseKeeper leases;
    /** Whether PUBLISH in a script counts this client among the receivers. */
    private final boolean receiversCount;

    private final Set<TransferTask> consumers = ConcurrentHashMap.newKeySet();
    private final BitSet claimSessions = new BitSet(); // guarded by itself
    /** Set before the consumers are stopped: one that comes later stops itself. */
    private volatile boolean closing;

    ConsumerStarter(
            RedissonClient redisson,
            RedisCaller redis,
            ClientOptions options,
            ClientSessions sessions,
            SingleCalls calls,
            Timers timers,
            RandomGenerator random) {
        this.redis = redis;
        this.options = options;
        this.sessions = sessions;
        this.calls = calls;
        this.timers = timers;
        this.random = random;
        this.wakeups = new WakeupChannel(
                redisson.getTopic(options.keyPrefix() + ":wakeup:" + sessions.clientId(), ByteArrayCodec.INSTANCE),
                sessions.clientId(),
                timers,
                random);
        this.leases = new LeaseKeeper(timers);
        this.receiversCount = subscribesToMaster(redisson.getConfig());
    }

    /**
     * Whether the one server that executes the scripts is the one that this client subscribes to. In a cluster that may be
     * any node, and elsewhere a replica, if so configured.
     */
    private static boolean subscribesToMaster(Config config) {
        return config.isSingleConfig()
                || (config.isSentinelConfig()
                        && config.useSentinelServers().getSubscriptionMode() == SubscriptionMode.MASTER);
    }

    /** Makes a receiver for single messages. */
    DelayQueueReceiver receiver(
            List<ConsumedPartition> partitions, ConsumerOptions consumerOptions, DeliveryHandler listener) {
        return new SingleReceiver(this, partitions, consumerOptions, listener);
    }

    /** The claims of one consumer from one partition, which pass its gate. */
    Claims newClaims(ConsumedPartition partition, Consumer<Throwable> attemptFailed) {
        return new CheckedClaimCalls(newClaims(partition.address(), attemptFailed), partition.gate());
    }

    /** The claims of one consumer: a session whose number is free again when the last claim is answered. */
    Claims newClaims(QueueAddress queue, Consumer<Throwable> attemptFailed) {
        int number;
        synchronized (claimSessions) {
            number = claimSessions.nextClearBit(0);
            claimSessions.set(number);
        }
        return new ClaimLane(
                sessions.session("c" + number),
                ((receiversCount ? "c" : "~c") + number + " " + wakeups.name()).getBytes(StandardCharsets.UTF_8),
                queue.keys(),
                redis,
                timers,
                random,
                attemptFailed,
                () -> {
                    synchronized (claimSessions) {
                        claimSessions.clear(number);
                    }
                });
    }

    /**
     * Starts a consumer.
     *
     * @param partitions the whole queue, or all partitions of it
     * @param stats reads the figures of the queue
     */
    DelayQueueConsumer consume(
            List<ConsumedPartition> partitions,
            Supplier<CompletableFuture<QueueStats>> stats,
            ConsumerOptions consumerOptions,
            Executor executor,
            DeliveryHandler handler) {
        checkOpen();
        ConsumerId consumer = ConsumerId.next(random);
        ConsumerRegistration registration = new ConsumerRegistration(consumer, stats);
        List<TransferTask.Partition> sources = new ArrayList<>(partitions.size());
        for (int i = 0; i < partitions.size(); i++) {
            ConsumedPartition partition = partitions.get(i);
            int number = i;
            Claims claims = newClaims(partition, error -> registration.task.attemptFailed(number, error));
            sources.add(new TransferTask.Partition(partition.settlements(), claims));
            registration.add(
                    partition.address().keys().base(),
                    new Presence(
                            arguments -> partition
                                    .gate()
                                    .ask(() -> calls.once(partition.address(), LuaScript.HEARTBEAT, arguments)),
                            timers,
                            consumer,
                            consumerOptions.name()));
        }
        TransferTask task = new TransferTask(
                sources,
                consumerOptions,
                registration,
                timers,
                random,
                leases,
                executor,
                handler);
        registration.task = task;
        consumers.add(task);
        if (closing) {
            task.stop(false); // the thread that stops all consumers may have missed it
        }
        checkOpen();
        // First the subscription, then the first claim: what is scheduled in between is not missed. Where Redis cannot
        // be subscribed to the claims begin all the same, and a pass follows once it can.
        Timers.Timer impatient = timers.schedule(options.requestTimeout().toNanos(), registration::begin);
        registration.subscribe().whenComplete((none, error) -> {
            impatient.cancel();
            registration.begin();
        });
        return task;
    }

    /** The connection of a consumer with the wake-ups and its heartbeat. */
    private final class ConsumerRegistration implements TransferTask.Host, WakeupListener.Woken {
        private final ConsumerId consumer;
        private final Supplier<CompletableFuture<QueueStats>> stats;
        // Set before anything can call this object, and not changed afterwards.
        private volatile TransferTask task;
        private final List<WakeupListener> listeners = new ArrayList<>();
        private final List<Presence> presences = new ArrayList<>();
        private final AtomicBoolean begun = new AtomicBoolean();

        ConsumerRegistration(ConsumerId consumer, Supplier<CompletableFuture<QueueStats>> stats) {
            this.consumer = consumer;
            this.stats = stats;
        }

        @Override
        public ClaimId nextClaimId() {
            return consumer.nextClaimId(random);
        }

        @Override
        public CompletableFuture<QueueStats> stats() {
            return stats.get();
        }

        @Override
        public void wakeUp(int partition, long waitMicros) {
            task.wakeUp(partition, waitMicros);
        }

        @Override
        public void makePass(int partition) {
            task.makePass(partition);
        }

        void add(String base, Presence presence) {
            listeners.add(new WakeupListener(base, listeners.size(), this));
            presences.add(presence);
        }

        CompletableFuture<Void> subscribe() {
            return ConsumerStarter.this.subscribe(listeners);
        }

        void begin() {
            if (begun.compareAndSet(false, true)) {
                presences.forEach(Presence::start);
                task.start();
            }
        }

        @Override
        public void stopped() {
            begun.set(true);
            presences.forEach(Presence::stop);
            unsubscribe(listeners);
            consumers.remove(task);
            leases.trim();
        }
    }

    private void checkOpen() {
        if (closing) {
            throw new DelayQueueException("the delay queue client is closed");
        }
    }

    /** @return completes when the subscription stands */
    CompletableFuture<Void> subscribe(List<WakeupListener> listeners) {
        return CompletableFuture.allOf(listeners.stream()
                .map(listener -> wakeups.add(listener.base(), listener))
                .toArray(CompletableFuture<?>[]::new));
    }

    void unsubscribe(List<WakeupListener> listeners) {
        listeners.forEach(listener -> wakeups.remove(listener.base(), listener));
    }

    /** A claim id of no consumer, for a receiver. */
    ClaimId nextClaimId() {
        return ConsumerId.next(random).nextClaimId(random);
    }

    /** Stops the consumers and wakes the receivers, which see {@link #isClosing()}. */
    void stopAll() {
        closing = true;
        consumers.forEach(task -> task.stop(false));
        wakeups.passAll();
    }

    /** Whether no claim is under way. */
    boolean isIdle() {
        synchronized (claimSessions) {
            return claimSessions.isEmpty();
        }
    }

    /** Whether the client is being closed, or is. */
    boolean isClosing() {
        return closing;
    }

    /** Ends the subscription. */
    CompletableFuture<Void> close() {
        return wakeups.close();
    }

    Timers timers() {
        return timers;
    }

    RandomGenerator random() {
        return random;
    }

    LeaseKeeper leases() {
        return leases;
    }

    WakeupChannel wakeups() {
        return wakeups;
    }

    Duration requestTimeout() {
        return options.requestTimeout();
    }

    /** The address of the server, for people. */
    String server() {
        return redis.server();
    }
}
