// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;
import org.redisson.config.SubscriptionMode;

/**
 * The entry to the delay queues of one Redis: owns the lanes, the timer thread and the one subscription that its queues
 * share. Thread-safe.
 *
 * <p>It makes no thread and no connection of its own before it is used, and never closes the {@link RedissonClient} that
 * it was given.
 */
public final class DelayQueueClient implements AutoCloseable {

    /** How many calls of a queue may be under way for each of its two sides. */
    static final int CALLS = 2;

    /** The most partitions of a queue. */
    public static final int MAX_PARTITIONS = Partitions.MAX;

    /** Above this many, what is known of partitioned queues is made anew when they are used again. */
    private static final int MAX_PARTITIONED = 256;

    /** Above this many, lanes that have nothing to do are dropped. */
    private static final int MAX_IDLE_LANES = 256;

    private static final int CLIENT_ID_BYTES = 16;

    /** How long {@link #close} waits for the end of the subscription in a thread that was interrupted. */
    private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ClientOptions options;
    private final RedissonClient redisson;
    private final RedisCaller redis;
    private final Timers timers;
    private final RandomGenerator random;
    private final MessageIds ids;
    private final byte[] clientId;
    private final WakeupChannel wakeups;
    private final LeaseKeeper leases;
    private final ReplicationWaits replicationWaits;
    private final SingleCalls calls;
    /** Whether PUBLISH in a script counts this client among the receivers. */
    private final boolean receiversCount;

    /** Numbers the calls of all lanes, so that a lane which is dropped and made anew goes on with higher ones. */
    private final AtomicLong sequence = new AtomicLong();

    private final Map<LaneKey, Lane> lanes = new ConcurrentHashMap<>();
    private final Map<PartitionedName, PartitionedQueue> partitioned = new ConcurrentHashMap<>();
    private final Set<TransferTask> consumers = ConcurrentHashMap.newKeySet();
    private final BitSet claimLanes = new BitSet(); // guarded by itself
    private volatile boolean closing;
    private volatile DelayQueueException closed;

    /** One lane of a queue: for what producers ask, or for deliveries. */
    private record LaneKey(String base, boolean deliveries) {}

    /** Requests for one lane that are to go together. Used by one thread. */
    private static final class Together {
        final QueueAddress queue;
        final List<Request<?>> requests = new ArrayList<>();
        long bytes;

        Together(QueueAddress queue) {
            this.queue = queue;
        }
    }

    /** What {@link #together} collects on this thread; null outside of it. */
    private final ThreadLocal<Map<LaneKey, Together>> together = new ThreadLocal<>();

    private record PartitionedName(String name, int partitions) {}

    DelayQueueClient(
            RedisCaller redis,
            ClientOptions options,
            Timers timers,
            RandomGenerator random,
            LongSupplier wallClockMillis,
            RedissonClient redisson) {
        this.options = options;
        this.redisson = redisson;
        this.redis = redis;
        this.timers = timers;
        this.random = random;
        this.ids = new MessageIds(wallClockMillis, random);
        this.clientId = new byte[CLIENT_ID_BYTES];
        random.nextBytes(clientId);
        this.wakeups = new WakeupChannel(
                redisson.getTopic(
                        options.keyPrefix() + ":wakeup:" + HexFormat.of().formatHex(clientId), ByteArrayCodec.INSTANCE),
                HexFormat.of().formatHex(clientId),
                timers,
                random);
        this.receiversCount = subscribesToMaster(redisson.getConfig());
        this.leases = new LeaseKeeper(timers);
        this.replicationWaits = new ReplicationWaits(redis, options, timers, random);
        this.calls = new SingleCalls(redis, timers, random, options.requestTimeout());
    }

    /**
     * A client on this Redisson client. Does not talk to Redis yet.
     *
     * @param redisson stays the caller's: it has to be open for as long as this client is used
     */
    public static DelayQueueClient create(RedissonClient redisson, ClientOptions options) {
        return create(redisson, options, (String) null);
    }

    /**
     * The same, with errors that name an address.
     *
     * @param address where the Redisson client connects to, without credentials
     */
    public static DelayQueueClient create(RedissonClient redisson, ClientOptions options, String address) {
        Objects.requireNonNull(redisson, "redisson");
        return create(redisson, options, new RedissonCaller(redisson, address));
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

    /** A client whose sendings go through {@code redis}, for tests that lose, delay or repeat them. */
    static DelayQueueClient create(RedissonClient redisson, ClientOptions options, RedisCaller redis) {
        return new DelayQueueClient(
                redis, options, new ScheduledTimers(), new SecureRandom(), System::currentTimeMillis, redisson);
    }

    /**
     * A queue by its name. Two clients mean the same queue if name and key prefix are equal.
     *
     * @throws IllegalArgumentException if the name is not allowed (see {@link QueueNames})
     */
    public DelayQueue queue(String name) {
        QueueNames.check("queueName", name);
        return home(name);
    }

    /**
     * A queue whose messages are spread over several hash tags, so that it can grow past one node of a Redis Cluster. All clients
     * of a queue have to use the same number, which the first one records in Redis: a call of one with another number fails with
     * a {@link PartitionMismatchException} and changes nothing. Order and priority hold within a partition.
     *
     * @param partitions how many, 1 to {@value #MAX_PARTITIONS}; 1 is the same as {@link #queue(String)}
     * @throws IllegalArgumentException if the name or the number is not allowed
     */
    public DelayQueue queue(String name, int partitions) {
        QueueNames.check("queueName", name);
        checkPartitions(partitions);
        return partitions == 1 ? home(name) : partitioned(name, partitions);
    }

    /**
     * Asks whether a queue has this number of partitions, and records it if none is recorded yet. The first call of a queue with
     * several partitions does so by itself; that of a queue with one does not.
     *
     * @return completes if the number is right; fails with a {@link PartitionMismatchException} if it is not, or with a {@link
     *     DelayQueueException}
     * @throws IllegalArgumentException if the name or the number is not allowed
     */
    public CompletableFuture<Void> usePartitions(String name, int partitions) {
        QueueNames.check("queueName", name);
        checkPartitions(partitions);
        return count(name, partitions).check();
    }

    private static void checkPartitions(int partitions) {
        if (partitions < 1 || partitions > MAX_PARTITIONS) {
            throw new IllegalArgumentException(
                    "partitions is " + partitions + ": it must be from 1 to " + MAX_PARTITIONS);
        }
    }

    private PartitionedQueue partitioned(String name, int partitions) {
        PartitionedName key = new PartitionedName(name, partitions);
        PartitionedQueue known = partitioned.get(key);
        if (known != null) {
            return known;
        }
        if (partitioned.size() >= MAX_PARTITIONED) {
            partitioned.clear();
        }
        return partitioned.computeIfAbsent(
                key,
                k -> new PartitionedQueue(this, name, partitions(name, partitions), count(name, partitions)));
    }

    private PartitionCount count(String name, int partitions) {
        return new PartitionCount(home(name).address(), partitions, calls, timers);
    }

    /** The keys that have the queue's name alone as their tag: the whole queue, unless it has more than one partition. */
    RedisDelayQueue home(String name) {
        return new RedisDelayQueue(this, QueueAddress.of(options.keyPrefix(), name));
    }

    /** The partitions of a queue that has more than one. */
    List<RedisDelayQueue> partitions(String name, int partitions) {
        return IntStream.range(0, partitions)
                .mapToObj(partition -> new RedisDelayQueue(
                        this,
                        new QueueAddress(
                                name,
                                ", partition " + (partition + 1) + " of " + partitions,
                                QueueKeys.of(options.keyPrefix(), Partitions.tag(name, partition, partitions)))))
                .toList();
    }

    /**
     * A new id as it is generated for a message that is scheduled without one: 16 characters, ordered by time. For callers
     * that want to know the id before they have an answer.
     */
    public String nextId() {
        return ids.next();
    }

    RedissonClient redisson() {
        return redisson;
    }

    Timers timers() {
        return timers;
    }

    LeaseKeeper leases() {
        return leases;
    }

    WakeupChannel wakeups() {
        return wakeups;
    }

    RandomGenerator random() {
        return random;
    }

    /** Who is called, for people. */
    String server() {
        return redis.server();
    }

    ClientOptions options() {
        return options;
    }

    /** A claim id of nobody in particular: of one who receives single messages. */
    ClaimId nextClaimId() {
        return ConsumerId.next(random).nextClaimId(random);
    }

    /** Puts in its lane what is never sent again after a failover. */
    <T> Submission<T> submit(
            QueueAddress queue, LuaScript script, String id, Object[] arguments, int bytes, Request.Reply<T> reply) {
        return submit(queue, script, id, arguments, bytes, reply, null);
    }

    /**
     * Puts a request in its lane. What finishes a delivery has no deadline; all else ends with the request timeout.
     *
     * @param resend asks for the same once more, where a failover may have undone it; null if that must not be
     */
    <T> Submission<T> submit(
            QueueAddress queue,
            LuaScript script,
            String id,
            Object[] arguments,
            int bytes,
            Request.Reply<T> reply,
            Request.Resend<T> resend) {
        Submission<T> submission = new Submission<>();
        boolean delivery = script == LuaScript.SETTLE || script == LuaScript.ACKNOWLEDGE || script == LuaScript.EXTEND;
        long deadline = delivery
                ? Long.MAX_VALUE
                : timers.nanoTime() + options.requestTimeout().toNanos();
        Request.Confirmation<T> confirmation = (done, result, shortfall) ->
                replicationWaits.await(queue, done, result, shortfall.history(), resend);
        Request<T> request = new Request<>(script, id, arguments, bytes, deadline, reply, submission, confirmation);
        LaneKey key = new LaneKey(queue.keys().base(), delivery);
        Map<LaneKey, Together> collected = together.get();
        if (collected == null || delivery) {
            submit(queue, key, List.of(request));
            return submission;
        }
        Together part = collected.computeIfAbsent(key, k -> new Together(queue));
        part.requests.add(request);
        part.bytes += request.bytes();
        // What fills a call does not wait for the others: their deadlines run, and the heap has bounds.
        if (part.requests.size() >= Lane.MAX_REQUESTS_PER_CALL || part.bytes >= Lane.MAX_BYTES_PER_CALL) {
            collected.remove(key);
            submit(queue, key, part.requests);
        }
        return submission;
    }

    /** See {@link DelayQueue#together}. */
    <T> T together(Supplier<T> requests) {
        if (together.get() != null) {
            return requests.get(); // goes with the outer ones
        }
        Map<LaneKey, Together> collected = new LinkedHashMap<>();
        together.set(collected);
        try {
            return requests.get();
        } finally {
            together.remove();
            collected.forEach((key, part) -> submit(part.queue, key, part.requests));
        }
    }

    private void submit(QueueAddress queue, LaneKey key, List<Request<?>> requests) {
        int next = 0;
        while (next < requests.size()) {
            DelayQueueException reason = closed;
            if (reason != null) {
                requests.get(next++).submission().fail(reason);
                continue;
            }
            Lane lane = lanes.get(key);
            if (lane == null) {
                dropIdleLanes();
                lane = lanes.computeIfAbsent(key, k -> newLane(queue, k));
            }
            int taken = lane.submit(requests, next);
            if (taken == next) {
                lanes.remove(key, lane);
                continue;
            }
            next = taken;
            reason = closed;
            if (reason != null) {
                lane.close(reason); // it may have been made while the others were closed
            }
        }
    }

    private Lane newLane(QueueAddress queue, LaneKey key) {
        byte[] base = queue.keys().base().getBytes(StandardCharsets.UTF_8);
        byte[] dead = queue.keys().dead().base().getBytes(StandardCharsets.UTF_8);
        return new Lane(
                queue.name(),
                IntStream.range(0, CALLS)
                        .mapToObj(number -> laneName((key.deliveries() ? "d" : "s") + number))
                        .toArray(byte[][]::new),
                queue.keys(),
                script -> switch (script) {
                    case SETTLE -> new Object[] {base, dead};
                    case ACKNOWLEDGE, EXTEND -> new Object[] {};
                    default -> new Object[] {base};
                },
                redis,
                sequence::incrementAndGet,
                timers,
                random,
                key.deliveries(),
                // A lost acknowledgement means another delivery, and no loss: so what is about deliveries does not
                // wait.
                key.deliveries() ? Durability.NONE : options.durability());
    }

    /** Waits until all that was changed so far is as safe as the options say; then completes with this result. */
    <T> CompletableFuture<T> awaitDurable(QueueAddress queue, String done, T result) {
        return options.durability().waits()
                ? replicationWaits.await(queue, done, result)
                : CompletableFuture.completedFuture(result);
    }

    /** The client's id and what tells the lane from its others. */
    private byte[] laneName(String suffix) {
        byte[] text = suffix.getBytes(StandardCharsets.US_ASCII);
        byte[] name = new byte[CLIENT_ID_BYTES + text.length];
        System.arraycopy(clientId, 0, name, 0, CLIENT_ID_BYTES);
        System.arraycopy(text, 0, name, CLIENT_ID_BYTES, text.length);
        return name;
    }

    private void dropIdleLanes() {
        if (lanes.size() >= MAX_IDLE_LANES) {
            lanes.values().removeIf(Lane::retireIfIdle);
        }
    }

    /** Calls outside of the lanes. */
    SingleCalls calls() {
        return calls;
    }

    /** The claims of one consumer: a lane whose number is free again when the last claim is answered. */
    Claims newClaims(QueueAddress queue, Consumer<Throwable> attemptFailed) {
        int number;
        synchronized (claimLanes) {
            number = claimLanes.nextClearBit(0);
            claimLanes.set(number);
        }
        return new ClaimLane(
                laneName("c" + number),
                ((receiversCount ? "c" : "~c") + number + " " + wakeups.name()).getBytes(StandardCharsets.UTF_8),
                queue.keys(),
                redis,
                sequence::incrementAndGet,
                timers,
                random,
                attemptFailed,
                () -> {
                    synchronized (claimLanes) {
                        claimLanes.clear(number);
                    }
                });
    }

    /**
     * Starts a consumer.
     *
     * @param partitions the whole queue, or all partitions of it
     * @param gate what the claims have to pass
     * @param stats reads the figures of the queue
     */
    DelayQueueConsumer consume(
            List<RedisDelayQueue> partitions,
            CallGate gate,
            Supplier<CompletableFuture<QueueStats>> stats,
            ConsumerOptions consumerOptions,
            Executor executor,
            DeliveryHandler handler) {
        DelayQueueException reason = closed;
        if (reason != null) {
            throw reason;
        }
        ConsumerId consumer = ConsumerId.next(random);
        ConsumerRegistration registration = new ConsumerRegistration(consumer, stats);
        List<TransferTask.Partition> sources = new ArrayList<>(partitions.size());
        for (int i = 0; i < partitions.size(); i++) {
            RedisDelayQueue partition = partitions.get(i);
            int number = i;
            Claims claims = newClaims(partition.address(), error -> registration.task.attemptFailed(number, error));
            sources.add(new TransferTask.Partition(
                    partition,
                    new CheckedClaimCalls(claims, gate)));
            registration.add(
                    partition.address().keys().base(),
                    new Presence(
                            arguments -> gate.ask(() -> calls.once(partition.address(), LuaScript.HEARTBEAT, arguments)),
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
            task.stop(false); // it may have been missed by who stops them all
            throw new DelayQueueException("the delay queue client is closed");
        }
        // First the subscription, then the first claim: what is scheduled in between is not missed. Where Redis cannot
        // be subscribed to the claims begin all the same, and a pass follows once it can.
        Timers.Timer impatient = timers.schedule(options.requestTimeout().toNanos(), registration::begin);
        registration.subscribe().whenComplete((none, error) -> {
            impatient.cancel();
            registration.begin();
        });
        return task;
    }

    /** Connects a consumer with the wake-ups. */
    private final class ConsumerRegistration implements TransferTask.Host {
        private final ConsumerId consumer;
        private final Supplier<CompletableFuture<QueueStats>> stats;
        // Set before anything can call this object, and not changed afterwards.
        private volatile TransferTask task;
        private final List<Ear> ears = new ArrayList<>();
        private final List<Presence> presences = new ArrayList<>();
        private final java.util.concurrent.atomic.AtomicBoolean begun = new java.util.concurrent.atomic.AtomicBoolean();

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

        /** Hears of the wake-ups for one partition. */
        private final class Ear implements WakeupChannel.Sleeper {
            final String base;
            final int partition;

            Ear(String base, int partition) {
                this.base = base;
                this.partition = partition;
            }

            @Override
            public void wakeUp(long waitMicros) {
                task.wakeUp(partition, waitMicros);
            }

            @Override
            public void makePass() {
                task.makePass(partition);
            }
        }

        void add(String base, Presence presence) {
            ears.add(new Ear(base, ears.size()));
            presences.add(presence);
        }

        CompletableFuture<Void> subscribe() {
            return CompletableFuture.allOf(
                    ears.stream().map(ear -> wakeups.add(ear.base, ear)).toArray(CompletableFuture<?>[]::new));
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
            ears.forEach(ear -> wakeups.remove(ear.base, ear));
            consumers.remove(task);
            leases.trim();
        }
    }

    /**
     * Stops the consumers, waits for up to the request timeout until Redis has answered what is under way, and ends the
     * timers and the subscription. Leases that are still held run out.
     */
    @Override
    public void close() {
        close(options.requestTimeout());
    }

    /**
     * The same, but waits for Redis no longer than this, also where the request timeout is longer.
     *
     * @param patience zero or more
     */
    public void close(Duration patience) {
        closing = true; // before: a consumer that comes now stops itself
        consumers.forEach(task -> task.stop(false));
        long deadline = System.nanoTime() + Math.min(options.requestTimeout().toNanos(), patience.toNanos());
        boolean interrupted = Thread.interrupted(); // such a thread does not wait for the work, only for the farewells
        wakeups.passAll(); // receivers look up, and see it
        while (!interrupted && isBusy() && deadline - System.nanoTime() > 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        DelayQueueException reason = new DelayQueueException("the delay queue client is closed");
        closed = reason;
        lanes.values().forEach(lane -> lane.close(reason));
        lanes.clear();
        replicationWaits.close(reason);
        calls.close(reason);
        try {
            long left = deadline - System.nanoTime();
            wakeups.close().get(Math.max(1, interrupted ? Math.min(left, FAREWELL_NANOS) : left), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
            // The connection is gone, and the subscription with it.
        }
        if (timers instanceof ScheduledTimers scheduled) {
            scheduled.close();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether claims or requests are under way. A claim's answer may still be followed by a release. */
    private boolean isBusy() {
        synchronized (claimLanes) {
            if (!claimLanes.isEmpty()) {
                return true;
            }
        }
        return lanes.values().stream().anyMatch(lane -> !lane.isIdle());
    }

    /** Whether the client is being closed, or is. */
    boolean isClosing() {
        return closing;
    }

    /** Consumers and receivers that listen. */
    int sleeping() {
        return wakeups.sleeping();
    }
}
