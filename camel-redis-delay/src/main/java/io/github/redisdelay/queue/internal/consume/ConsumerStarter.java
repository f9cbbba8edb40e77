// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.ClientSessions;
import io.github.redisdelay.queue.internal.request.QueueRegistry;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;
import org.redisson.config.SubscriptionMode;

/**
 * The consumers and receivers of a client, with what they share: the subscription to wake-ups, the extension of leases,
 * and the numbers of their claim sessions. Thread-safe.
 */
public final class ConsumerStarter {

    private final ScriptExecutor redis;
    private final ClientOptions options;
    private final ClientSessions sessions;
    private final Timers timers;
    private final RandomGenerator random;
    private final WakeupChannel wakeups;
    private final LeaseExtender leases;
    private final ClientPresence presence;
    /** True if PUBLISH in a script counts this client among the receivers. */
    private final boolean receiversCount;

    private final Set<ConsumerLoop> consumers = ConcurrentHashMap.newKeySet();
    private final BitSet claimSessions = new BitSet(); // guarded by itself
    /** Set before the consumers are stopped. A consumer that comes later stops itself. */
    private volatile boolean closing;

    public ConsumerStarter(
            RedissonClient redisson,
            ScriptExecutor redis,
            ClientOptions options,
            ClientSessions sessions,
            UnbatchedCalls calls,
            QueueRegistry registry,
            Timers timers,
            RandomGenerator random) {
        this.redis = redis;
        this.options = options;
        this.sessions = sessions;
        this.timers = timers;
        this.random = random;
        this.wakeups = new WakeupChannel(
                redisson.getTopic(options.keyPrefix() + ":wakeup:" + sessions.clientId(), ByteArrayCodec.INSTANCE),
                timers,
                random);
        this.leases = new LeaseExtender(timers);
        this.presence =
                new ClientPresence(calls, registry, timers, wakeups, new DataLossReport(timers, redis.server()));
        this.receiversCount = subscribesToMaster(redisson.getConfig());
    }

    /**
     * Returns whether the one server that executes the scripts is the one that this client subscribes to. In a cluster
     * that may be any node, and elsewhere a replica, if so configured.
     */
    private static boolean subscribesToMaster(Config config) {
        return config.isSingleConfig()
                || (config.isSentinelConfig()
                        && config.useSentinelServers().getSubscriptionMode() == SubscriptionMode.MASTER);
    }

    /**
     * Makes a receiver for single messages.
     *
     * @param partitions the whole queue, or all partitions of it
     * @param stats reads the figures of the queue
     */
    public DelayQueueReceiver receiver(
            List<ConsumedPartition> partitions,
            Supplier<CompletableFuture<QueueStats>> stats,
            ConsumerOptions consumerOptions,
            DeliveryHandler listener) {
        ConsumerRegistration registration = new ConsumerRegistration(stats);
        RedisDelayQueueReceiver receiver = new RedisDelayQueueReceiver(
                registration.sources(partitions),
                consumerOptions,
                registration,
                options.requestTimeout(),
                timers,
                random,
                leases,
                listener);
        registration.loop = receiver.loop();
        consumers.add(receiver.loop());
        if (closing) {
            receiver.close(); // the thread that stops all consumers may have missed it
        }
        return receiver;
    }

    /** The claims of one consumer: a session whose number is free again when the last claim is answered. */
    public ClaimCalls newClaims(QueueAddress queue, Consumer<Throwable> attemptFailed) {
        int number;
        synchronized (claimSessions) {
            number = claimSessions.nextClearBit(0);
            claimSessions.set(number);
        }
        return new RedisClaimCalls(
                sessions.session("c" + number),
                ((receiversCount ? "c" : "~c") + number + "-" + ConsumerHeartbeat.VERSION + " " + wakeups.name())
                        .getBytes(StandardCharsets.UTF_8),
                queue,
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
    public DelayQueueConsumer consume(
            List<ConsumedPartition> partitions,
            Supplier<CompletableFuture<QueueStats>> stats,
            ConsumerOptions consumerOptions,
            Executor executor,
            DeliveryHandler handler) {
        checkOpen();
        ConsumerRegistration registration = new ConsumerRegistration(stats);
        List<PartitionState> sources = registration.sources(partitions);
        for (ConsumedPartition partition : partitions) {
            registration.heartbeats.add(presence.heartbeat(partition, registration.consumer, consumerOptions.name()));
        }
        ConsumerLoop loop =
                new ConsumerLoop(sources, consumerOptions, registration, timers, random, leases, executor, handler);
        registration.loop = loop;
        consumers.add(loop);
        if (closing) {
            loop.stop(false); // the thread that stops all consumers may have missed it
        }
        checkOpen();
        // First the subscription, then the first claim: what is scheduled in between is not missed. Where the
        // subscription fails the claims begin all the same, and everything is checked again once it stands.
        Timers.Timer impatient = timers.schedule(options.requestTimeout().toNanos(), registration::begin);
        registration.listen().whenComplete((none, error) -> {
            impatient.cancel();
            registration.begin();
        });
        return loop;
    }

    /** The connection of a consumer with the wake-ups and its heartbeat. */
    private final class ConsumerRegistration implements ConsumerHost {
        private final ConsumerId consumer = ConsumerId.next(random);
        private final Supplier<CompletableFuture<QueueStats>> stats;
        // Set before anything can call this object, and not changed afterwards.
        private volatile ConsumerLoop loop;
        /** The listeners to the wake-ups of each partition, by its base key. */
        private final Map<String, WakeupListener> listeners = new HashMap<>();

        private final List<ConsumerHeartbeat> heartbeats = new ArrayList<>();
        private boolean begun; // guarded by this

        ConsumerRegistration(Supplier<CompletableFuture<QueueStats>> stats) {
            this.stats = stats;
        }

        /** The claims from each partition; and a listener to its wake-ups. */
        List<PartitionState> sources(List<ConsumedPartition> partitions) {
            List<PartitionState> sources = new ArrayList<>(partitions.size());
            for (ConsumedPartition partition : partitions) {
                int number = sources.size();
                listeners.put(partition.address().keys().base(), new WakeupListener() {
                    @Override
                    public void wakeUp(long waitMicros) {
                        loop.wakeUp(number, waitMicros);
                    }

                    @Override
                    public void checkNow() {
                        loop.checkNow(number);
                    }
                });
                sources.add(new PartitionState(
                        partition.settlements(),
                        newClaims(partition.address(), error -> loop.attemptFailed(number, error)),
                        partition.gate(),
                        timers.nanoTime()));
            }
            return sources;
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
        public CompletableFuture<Void> listen() {
            return CompletableFuture.allOf(listeners.entrySet().stream()
                    .map(each -> wakeups.add(each.getKey(), each.getValue()))
                    .toArray(CompletableFuture<?>[]::new));
        }

        @Override
        public String server() {
            return redis.server();
        }

        void begin() {
            synchronized (this) {
                if (begun) {
                    return;
                }
                begun = true;
                presence.begin(heartbeats);
            }
            loop.start();
        }

        @Override
        public CompletableFuture<Void> stopped(CompletableFuture<Void> left) {
            CompletableFuture<Void> farewell;
            synchronized (this) {
                begun = true;
                farewell = presence.end(heartbeats, left);
            }
            listeners.forEach(wakeups::remove);
            consumers.remove(loop);
            leases.trim();
            return farewell;
        }
    }

    private void checkOpen() {
        if (closing) {
            throw new DelayQueueException("the delay queue client is closed");
        }
    }

    /** Stops the consumers and closes the receivers. */
    public void stopAll() {
        closing = true;
        consumers.forEach(loop -> loop.stop(false));
    }

    /** Returns whether no claim is under way, and Redis has forgotten all consumers that have stopped, or is silent. */
    public boolean isIdle() {
        synchronized (claimSessions) {
            if (!claimSessions.isEmpty()) {
                return false;
            }
        }
        return presence.isIdle();
    }

    /** Ends the subscription. */
    public CompletableFuture<Void> close() {
        return wakeups.close();
    }

    public LeaseExtender leases() {
        return leases;
    }

    public WakeupChannel wakeups() {
        return wakeups;
    }
}
