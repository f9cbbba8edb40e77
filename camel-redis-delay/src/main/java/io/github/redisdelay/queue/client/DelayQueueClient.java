// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.client;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.QueueInfo;
import io.github.redisdelay.queue.QueueNames;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.consume.ConsumerStarter;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.partition.PartitionCount;
import io.github.redisdelay.queue.internal.partition.PartitionHash;
import io.github.redisdelay.queue.internal.partition.Partitions;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.ObservedScriptExecutor;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.ClientSessions;
import io.github.redisdelay.queue.internal.request.QueueRegistry;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;

/**
 * The entry to the delay queues of one Redis: it makes queues of what they share: the ways of their requests, the
 * timer thread and the one subscription to wake-ups. Thread-safe.
 *
 * <p>It makes no thread and no connection of its own before it is used, and never closes the {@link RedissonClient} that
 * it was given.
 */
public final class DelayQueueClient implements AutoCloseable {

    /** The most partitions of a queue. */
    public static final int MAX_PARTITIONS = PartitionHash.MAX;

    /** The most queues that are listed. */
    public static final int MAX_QUEUES = QueueRegistry.MAX_QUEUES;

    /** Above this many, what is known of partitioned queues is made anew when they are used again. */
    private static final int MAX_PARTITIONED = 256;

    /** The time for which {@link #close} waits for the end of the subscription in a thread that was interrupted. */
    private static final long FAREWELL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ClientOptions options;
    private final Timers timers;
    private final MessageIdGenerator ids;
    private final UnbatchedCalls calls;
    private final RequestRouter router;
    private final ConsumerStarter consumers;
    private final QueueRegistry registry;
    private final Map<PartitionedName, RedisDelayQueue> partitioned = new ConcurrentHashMap<>();

    private record PartitionedName(String name, int partitions) {}

    DelayQueueClient(
            ScriptExecutor redis,
            ClientOptions options,
            Timers timers,
            RandomGenerator random,
            LongSupplier wallClockMillis,
            RedissonClient redisson) {
        this.options = options;
        this.timers = timers;
        this.ids = new MessageIdGenerator(wallClockMillis, random);
        this.calls = new UnbatchedCalls(redis, timers, random, options.requestTimeout());
        this.registry = new QueueRegistry(options.keyPrefix(), calls, timers);
        ClientSessions sessions = new ClientSessions(random);
        this.router = new RequestRouter(redis, options, sessions, timers, random, registry);
        this.consumers = new ConsumerStarter(redisson, redis, options, sessions, calls, registry, timers, random);
    }

    /**
     * A client on this Redisson client. Does not talk to Redis yet.
     *
     * @param redisson stays the caller's: it has to be open for as long as this client is used
     * @throws IllegalArgumentException if the timeout of durability is not shorter than the one of requests
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
        return create(redisson, options, new RedissonScriptExecutor(redisson, address));
    }

    /** A client whose sendings go through {@code redis}, for tests that lose, delay or repeat them. */
    static DelayQueueClient create(RedissonClient redisson, ClientOptions options, ScriptExecutor redis) {
        Durability durability = options.durability();
        if (durability.waits() && durability.timeout().compareTo(options.requestTimeout()) >= 0) {
            throw new IllegalArgumentException("the timeout of durability is " + durability.timeout()
                    + ": it must be shorter than requestTimeout, which is " + options.requestTimeout());
        }
        Timers timers = new ScheduledTimers();
        ScriptExecutor calls = options.listener() == null
                ? redis
                : new ObservedScriptExecutor(redis, options.listener(), timers::nanoTime);
        return new DelayQueueClient(calls, options, timers, new SecureRandom(), System::currentTimeMillis, redisson);
    }

    /**
     * A queue by its name. Two clients mean the same queue if name and key prefix are equal.
     *
     * @throws IllegalArgumentException if the name is not allowed (see {@link QueueNames})
     */
    public DelayQueue queue(String name) {
        QueueNames.check("queueName", name);
        return queue(List.of(partition(QueueAddress.of(options.keyPrefix(), name))), CallGate.OPEN);
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
        return partitions == 1 ? queue(name) : partitioned(name, partitions);
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

    /**
     * Asks whether the server of a queue can make changes as safe as {@link ClientOptions#durability()} says. Its first
     * change asks as well.
     *
     * @return completes if it can, and where it does not answer; fails with a {@link DelayQueueException} if it cannot
     */
    public CompletableFuture<Void> checkDurability(String name) {
        return router.checkDurable(QueueAddress.of(options.keyPrefix(), name));
    }

    /**
     * The queues of this Redis that were used in the last 400 days under this client's key prefix, as far as is known: by a
     * consumer that ran, or a request that changed something. Looking at a queue is no use of it. The registry is kept beside
     * the queues and as best it can be, so it is a help for people and nothing to rely on: a queue may be missing for an hour
     * after Redis has lost it, for good if nobody with a right to it ever wrote it down, and one that is empty may be listed.
     *
     * @param limit how many at the most, 1 to {@value #MAX_QUEUES}, which is as many as are kept
     * @return the last used first; dead letters belong to their queue. Fails with a {@link DelayQueueException}
     * @throws IllegalArgumentException if the limit is not possible
     */
    public CompletableFuture<List<QueueInfo>> queues(int limit) {
        return registry.queues(limit);
    }

    private static void checkPartitions(int partitions) {
        if (partitions < 1 || partitions > MAX_PARTITIONS) {
            throw new IllegalArgumentException(
                    "partitions is " + partitions + ": it must be from 1 to " + MAX_PARTITIONS);
        }
    }

    private DelayQueue partitioned(String name, int partitions) {
        PartitionedName key = new PartitionedName(name, partitions);
        RedisDelayQueue known = partitioned.get(key);
        if (known != null) {
            return known;
        }
        if (partitioned.size() >= MAX_PARTITIONED) {
            partitioned.clear();
        }
        return partitioned.computeIfAbsent(key, k -> queue(partitions(name, partitions), count(name, partitions)));
    }

    private PartitionCount count(String name, int partitions) {
        return new PartitionCount(QueueAddress.of(options.keyPrefix(), name), partitions, calls, timers);
    }

    private RedisDelayQueue queue(List<Partition> partitions, CallGate gate) {
        return new RedisDelayQueue(new Partitions(partitions, gate), ids, consumers);
    }

    private Partition partition(QueueAddress address) {
        return new Partition(address, router, calls);
    }

    /** The partitions of a queue that has more than one. */
    List<Partition> partitions(String name, int partitions) {
        return IntStream.range(0, partitions)
                .mapToObj(partition -> partition(new QueueAddress(
                        name,
                        ", partition " + (partition + 1) + " of " + partitions,
                        QueueKeys.of(options.keyPrefix(), PartitionHash.tag(name, partition, partitions)))))
                .toList();
    }

    /**
     * A new id as it is generated for a message that is scheduled without one: 14 characters, ordered by time. For callers
     * that want to know the id before they have an answer.
     */
    public String nextId() {
        return ids.next();
    }

    Timers timers() {
        return timers;
    }

    UnbatchedCalls calls() {
        return calls;
    }

    ConsumerStarter consumers() {
        return consumers;
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
        consumers.stopAll();
        long deadline = System.nanoTime() + Math.min(options.requestTimeout().toNanos(), patience.toNanos());
        boolean interrupted = Thread.interrupted(); // such a thread does not wait for the work, only for the farewells
        // A claim's answer may still be followed by a release.
        while (!interrupted && !(consumers.isIdle() && router.isIdle()) && deadline - System.nanoTime() > 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        DelayQueueException reason = new DelayQueueException("the delay queue client is closed");
        router.close(reason);
        calls.close(reason);
        try {
            long left = deadline - System.nanoTime();
            consumers
                    .close()
                    .get(Math.max(1, interrupted ? Math.min(left, FAREWELL_NANOS) : left), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            // The connection is gone, and the subscription with it.
        }
        if (timers instanceof ScheduledTimers scheduled) {
            scheduled.close();
        }
        if (options.listener() != null) {
            options.listener().closed();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
