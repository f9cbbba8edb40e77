// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** A queue of its own on a real Redis for each test, and short words for what tests do with it. */
public abstract class RealQueueIT {

    @RegisterExtension
    protected static RedisExtension redis = new RedisExtension();

    protected static final Duration HOUR = Duration.ofHours(1);
    protected static final DueTime IN_AN_HOUR = DueTime.after(HOUR);
    /** Due since 1970, so that all of them are due at the same time. */
    protected static final DueTime LONG_AGO = new DueTime(false, 1);

    protected final ExecutorService executor = Executors.newCachedThreadPool();
    protected DelayQueueClient client;
    protected DelayQueue queue;
    protected ClaimCalls claims;
    private ClaimCalls deadClaims;

    @BeforeEach
    protected void openQueue() {
        client = openClient();
        queue = client.queue(redis.uniqueQueue());
        claims = ClientAccess.consumers(client)
                .newClaims(((RedisDelayQueue) queue).partitions().get(0).address(), error -> {});
        deadClaims = ClientAccess.consumers(client)
                .newClaims(
                        ((RedisDelayQueue) queue.deadLetters())
                                .partitions()
                                .get(0)
                                .address(),
                        error -> {});
    }

    protected DelayQueueClient openClient() {
        return DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
    }

    @AfterEach
    protected void closeQueue() {
        claims.close();
        deadClaims.close();
        client.close();
        executor.shutdownNow();
    }

    public static <T> T get(Submission<T> sent) {
        return get(sent.result());
    }

    public static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public static ScheduleRequest message(String id, DueTime due, int priority) {
        return ScheduleRequest.of(id, bytes("body of " + id), due).withPriority(priority);
    }

    public static ScheduleRequest message(String id, DuplicatePolicy policy) {
        return ScheduleRequest.of(id, bytes("body of " + id), LONG_AGO).withOnDuplicate(policy);
    }

    protected ScheduleResult schedule(String id, DueTime due) {
        return schedule(id, due, 0);
    }

    protected ScheduleResult schedule(String id, DueTime due, int priority) {
        return get(queue.schedule(message(id, due, priority)));
    }

    /** Many messages, in few calls. */
    protected void scheduleMany(int count, String prefix, DueTime due) {
        List<Submission<ScheduleResult>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(queue.schedule(message(prefix + i, due, 0)));
        }
        all.forEach(RealQueueIT::get);
    }

    /** Claims for an hour, as a consumer of its own does. */
    protected List<ClaimedDelivery> claim(int messages, int ended) {
        return claim(queue, claims, messages, ended);
    }

    protected List<ClaimedDelivery> claim(int messages) {
        return claim(messages, messages);
    }

    protected List<ClaimedDelivery> claimDead(int messages) {
        return claim(queue.deadLetters(), deadClaims, messages, messages);
    }

    protected List<ClaimedDelivery> claim(DelayQueue from, ClaimCalls with, int messages, int ended) {
        ClaimRequest request = new ClaimRequest(
                FakeHost.randomClaimId(), 3_600_000_000L, messages, ended, false, 1, ClaimRequest.NO_BATCH);
        ClaimReply reply = get(with.claim(request, new CompletableFuture<>()));
        FakeTimers timers = new FakeTimers();
        return reply.messages().stream()
                .map(m -> new ClaimedDelivery(
                        ((RedisDelayQueue) from).partitions().get(0),
                        m,
                        request.claimId(),
                        reply.timeMicros(),
                        timers.nanoTime(),
                        timers.nanoTime(),
                        timers,
                        (d, worked) -> {}))
                .toList();
    }

    public static List<String> ids(List<ClaimedDelivery> deliveries) {
        return deliveries.stream().map(ClaimedDelivery::id).toList();
    }

    /** A message as another client may have stored it: its id may be no text. */
    protected void scheduleForeign(byte[] id, long due) {
        redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "redis.call('HSET', KEYS[1], ARGV[1], struct.pack('<dd', 1, 1) .. 'x') "
                                + "return redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])",
                        RScript.ReturnType.VALUE,
                        List.of(keys().key("messages"), keys().key("delayed")),
                        id,
                        bytes(String.valueOf(due)));
    }

    /** Schedules a message, claims it and gives it up. */
    protected void giveUp(String id, int priority) {
        schedule(id, LONG_AGO, priority);
        ClaimedDelivery delivery = claim(1).get(0);
        assertThat(delivery.id()).isEqualTo(id);
        assertThat(get(delivery.settle(new Settlement.DeadLetter(bytes("failure of " + id)))))
                .isEqualTo(SettleResult.DONE);
    }

    /** The same where nobody consumes dead letters; answers the dead letter's id. */
    protected String bury(String id, int priority) {
        giveUp(id, priority);
        return get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), QueueAdmin.MAX_PAGE))
                .messages()
                .stream()
                .map(MessageInfo::id)
                .filter(dead -> dead.startsWith(id + "@"))
                .max(String::compareTo)
                .orElseThrow();
    }

    protected QueueKeys keys() {
        return ((RedisDelayQueue) queue).partitions().get(0).address().keys();
    }

    protected QueueSnapshot snapshot() {
        return QueueSnapshot.read(redis.client(), keys());
    }

    /** The ids in a set, or the fields of a hash. */
    protected List<String> held(String key) {
        return List.copyOf(snapshot().keys().get(key).keySet());
    }

    /** Lets time pass for this queue and its dead letters. */
    protected void pass(Duration duration) {
        QueueSnapshot.shift(redis.client(), keys(), duration.toNanos() / 1000);
    }

    protected BlockingQueue<Delivery> consume(DelayQueue from, ConsumerOptions options) {
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        from.consume(options, executor, received::add);
        return received;
    }

    public static Delivery next(BlockingQueue<Delivery> received) throws InterruptedException {
        Delivery delivery = received.poll(10, TimeUnit.SECONDS);
        assertThat(delivery).as("a delivery within 10 s").isNotNull();
        return delivery;
    }

    public static ConsumerOptions concurrent(int consumers) {
        return ConsumerOptions.DEFAULTS.withConcurrentConsumers(consumers);
    }

    public static ConsumerOptions named(String name) {
        return ConsumerOptions.DEFAULTS.withName(name);
    }

    /** The sum of a figure of {@code INFO commandstats}, which the first group of a pattern is. */
    protected static long commandStats(String pattern) {
        String stats = redis.client()
                .getScript(StringCodec.INSTANCE)
                .eval(RScript.Mode.READ_ONLY, "return redis.call('INFO', 'commandstats')", RScript.ReturnType.VALUE);
        return Pattern.compile(pattern)
                .matcher(stats)
                .results()
                .mapToLong(found -> Long.parseLong(found.group(1)))
                .sum();
    }
}
