// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumerHeartbeat;
import io.github.redisdelay.queue.internal.consume.RedisClaimCalls;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.ClientSessions;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.redisson.api.RedissonClient;

/**
 * A client in a vector, with the queue {@code orders}, in short words. Each is a call that is recorded; with one client for each
 * vector, and its clocks and random numbers from here, all bytes are the same each time.
 */
final class RecordedClient implements AutoCloseable {

    static final long START = 1_800_000_000_000_000L;

    /** The beginning of the names of sessions: 16 bytes that are random, but for a client in a vector. */
    private static final byte[] CLIENT = "a client in Java".getBytes(StandardCharsets.US_ASCII);

    private static final long LEASE_MICROS = 30_000_000;

    private final VectorRecorder recorder;
    private final ScriptExecutor redis;
    private final FakeTimers timers = new FakeTimers();
    private final RandomGenerator random = new Numbers();
    private final DelayQueueClient client;
    /** The claims of each consumer, by its name and whether it is one of dead letters. */
    private final Map<String, RedisClaimCalls> claims = new HashMap<>();

    private final ClientSessions sessions = new ClientSessions(random);
    private long now;
    private int claimNumber;
    /** The heartbeat that was sent last. */
    private CompletableFuture<?> heartbeat;

    final DelayQueue queue;

    /** Numbers from 1 on in place of random ones, and the same client's id each time. */
    private static final class Numbers implements RandomGenerator {
        private long next;

        @Override
        public long nextLong() {
            return ++next;
        }

        @Override
        public void nextBytes(byte[] bytes) {
            System.arraycopy(CLIENT, 0, bytes, 0, bytes.length);
        }
    }

    RecordedClient(VectorRecorder recorder, RedissonClient redisson) {
        this.recorder = recorder;
        redis = recorder.begin();
        setClock(START);
        client = ClientAccess.create(
                redis,
                ClientOptions.DEFAULTS.withKeyPrefix(VectorRecorder.PREFIX),
                timers,
                random,
                () -> now / 1000,
                redisson);
        queue = client.queue("orders");
    }

    private void setClock(long micros) {
        now = micros;
        recorder.setClock(micros);
    }

    long now() {
        return now;
    }

    void pass(Duration time) {
        setClock(now + DueTime.toMicros(time));
        timers.jump(time);
    }

    /** A call that the client makes: its name, and its members, see {@link Json#object}. */
    <T> T call(String name, Map<String, Object> members, Supplier<CompletableFuture<T>> call) {
        int before = recorder.steps().size();
        recorder.hold(members.isEmpty() ? List.of(name) : List.of(name, members));
        T result = null;
        Object told;
        try {
            CompletableFuture<T> answer = call.get();
            recorder.go();
            result = answer.get(20, TimeUnit.SECONDS);
            told = result instanceof ClaimReply reply ? claimed(reply) : Json.of(result);
        } catch (Exception e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof Error broken) {
                throw broken;
            }
            told = Json.object("error", cause.getClass().getSimpleName().replace("Exception", ""));
        }
        List<Map<String, Object>> steps = recorder.steps();
        if (steps.size() == before) {
            throw new AssertionError("nothing was sent for " + name + ": " + told);
        }
        if (told != null && !name.equals("refused")) {
            steps.get(steps.size() - 1).put("result", told);
        }
        return result;
    }

    private <T> T submit(String name, Map<String, Object> members, Supplier<Submission<T>> call) {
        return call(name, members, () -> call.get().result());
    }

    // Messages

    void schedule(ScheduleRequest... messages) {
        List<Map<String, Object>> all =
                Arrays.stream(messages).map(RecordedClient::described).toList();
        if (all.size() == 1) {
            submit("schedule", all.get(0), () -> queue.schedule(messages[0]));
        } else {
            call(
                    "schedule",
                    Json.object("together", all),
                    () -> all(queue.together(
                            () -> Arrays.stream(messages).map(queue::schedule).toList())));
        }
    }

    /** Schedules a message, and sees how the client registers the queue then. */
    void scheduleFirst(ScheduleRequest message) {
        CompletableFuture<Void> registered = recorder.registered();
        call("schedule", described(message), () -> queue.schedule(message)
                .result()
                .thenCombine(registered, (r, done) -> r));
    }

    private static <T> CompletableFuture<List<T>> all(List<Submission<T>> each) {
        return CompletableFuture.allOf(each.stream().map(Submission::result).toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> each.stream().map(one -> one.result().join()).toList());
    }

    private static Map<String, Object> described(ScheduleRequest message) {
        boolean recurs = message.schedule() != null;
        return Json.object(
                "id",
                message.id(),
                message.due().relative() ? "after" : "at",
                message.due().micros(),
                "body",
                message.body(),
                "onDuplicate",
                recurs || message.id() == null ? null : message.onDuplicate(),
                "supersedes",
                message.supersedes() == null ? null : message.supersedes().bytes(),
                "priority",
                message.priority() == 0 ? null : message.priority(),
                "group",
                message.group(),
                "maximumQueueLength",
                message.maximumQueueLength() == 0 ? null : message.maximumQueueLength(),
                "rule",
                recurs ? message.schedule().encode() : null,
                "declaredAt",
                recurs ? message.declaredMicros() : null);
    }

    void cancel(String id) {
        submit("cancel", Json.object("id", id), () -> queue.cancel(id));
    }

    void cancelTogether(String... ids) {
        call(
                "cancel",
                Json.object("together", List.of(ids)),
                () -> all(queue.together(
                        () -> Arrays.stream(ids).map(queue::cancel).toList())));
    }

    void reschedule(String id, DueTime due) {
        submit(
                "reschedule",
                Json.object("id", id, due.relative() ? "after" : "at", due.micros()),
                () -> queue.reschedule(id, due));
    }

    void promote(String id) {
        submit("promote", Json.object("id", id), () -> queue.promote(id));
    }

    void get(String id) {
        call("get", Json.object("id", id), () -> queue.get(id));
    }

    // Deliveries

    /** Claims as the consumer of this name does, for 30 s. */
    List<ClaimedDelivery> claim(int messages) {
        return claim("c0", messages, ClaimRequest.NO_BATCH, false);
    }

    List<ClaimedDelivery> claim(String consumer, int messages, long batchMicros, boolean quick) {
        return claim(queue, consumer, messages, batchMicros, quick);
    }

    List<ClaimedDelivery> claimDead(int messages) {
        return claim(queue.deadLetters(), "c1", messages, ClaimRequest.NO_BATCH, false);
    }

    private List<ClaimedDelivery> claim(
            DelayQueue from, String consumer, int messages, long batchMicros, boolean quick) {
        Partition partition = ((RedisDelayQueue) from).partitions().get(0);
        ClaimId id = ClaimId.of(String.format("%-8.8sclaim%03d", "consum" + consumer, ++claimNumber)
                .getBytes(StandardCharsets.US_ASCII));
        ClaimRequest request = messages == 0
                ? ClaimRequest.leave(id, 1_900_000)
                : new ClaimRequest(id, LEASE_MICROS, messages, messages, quick, 1_900_000, batchMicros);
        ClaimReply reply = call(
                "claim",
                Json.object(
                        "of",
                        from == queue ? null : "dead letters",
                        "consumer",
                        consumer,
                        "claimId",
                        id.bytes(),
                        "lease",
                        request.leaseMicros(),
                        "messages",
                        messages,
                        "quick",
                        quick ? true : null,
                        "batch",
                        batchMicros < 0 ? null : batchMicros),
                () -> claims(partition, consumer).claim(request, new CompletableFuture<>()));
        return reply == null
                ? List.of()
                : reply.messages().stream()
                        .map(m -> new ClaimedDelivery(
                                partition,
                                m,
                                id,
                                reply.timeMicros(),
                                timers.nanoTime(),
                                timers.nanoTime(),
                                timers,
                                (d, worked) -> {}))
                        .toList();
    }

    /** A consumer whose name ends with {@code gone} is of a client that does not listen. */
    private RedisClaimCalls claims(Partition partition, String consumer) {
        String channel = VectorRecorder.PREFIX + (consumer.endsWith("gone") ? ":gone:1" : ":wakeup:1");
        return claims.computeIfAbsent(
                consumer,
                name -> new RedisClaimCalls(
                        sessions.session(name),
                        (name + "-1.0 " + channel).getBytes(StandardCharsets.US_ASCII),
                        partition.address(),
                        redis,
                        timers,
                        random,
                        error -> {},
                        () -> {}));
    }

    private static Object claimed(ClaimReply reply) {
        return Json.object(
                "nextDue", reply.nextDueMicros(),
                "nextExpiry", reply.nextExpiryMicros(),
                "again", reply.againMicros(),
                "limited", reply.limited() ? true : null,
                "dropped", reply.dropped().isEmpty() ? null : reply.dropped(),
                "messages",
                        reply.messages().stream()
                                .map(message -> Json.object(
                                        "id", message.id(), "stored", message.stored(), "state", message.state()))
                                .toList());
    }

    void settle(ClaimedDelivery delivery, Settlement how) {
        submit("settle", described(delivery, how), () -> delivery.settle(how));
    }

    void acknowledge(ClaimedDelivery delivery) {
        settle(delivery, Settlement.ACKNOWLEDGE);
    }

    /** The first one goes alone, and the others together, as they come while its call is under way. */
    void settle(List<ClaimedDelivery> deliveries, Settlement how) {
        call(
                "settle",
                Json.object(
                        "first, then together",
                        deliveries.stream().map(each -> described(each, how)).toList()),
                () -> all(deliveries.stream().map(each -> each.settle(how)).toList()));
    }

    private static Map<String, Object> described(ClaimedDelivery delivery, Settlement how) {
        return Json.object(
                "id", delivery.id(),
                "claimId", delivery.claimId().bytes(),
                "how", how.word(),
                "pauseGroup", how instanceof Settlement.PauseGroup both ? DueTime.toMicros(both.pause()) : null,
                "delay", how.first() instanceof Settlement.Retry retry ? DueTime.toMicros(retry.delay()) : null,
                "failure",
                        how.first() instanceof Settlement.Retry retry
                                ? retry.failure()
                                : how.first() instanceof Settlement.DeadLetter letter ? letter.failure() : null,
                "remember", remember(how.first()));
    }

    /** For how long the id stays a duplicate; null if it does not. */
    private static Long remember(Settlement how) {
        Duration period = how instanceof Settlement.Acknowledge done
                ? done.remember()
                : how instanceof Settlement.Drop drop
                        ? drop.remember()
                        : how instanceof Settlement.DeadLetter letter ? letter.remember() : Duration.ZERO;
        return period.isZero() ? null : Long.valueOf(DueTime.toMicros(period));
    }

    void extend(ClaimedDelivery delivery, Duration lease) {
        Partition partition = ((RedisDelayQueue) queue).partitions().get(0);
        submit(
                "extend",
                Json.object(
                        "id", delivery.id(), "claimId", delivery.claimId().bytes(), "lease", DueTime.toMicros(lease)),
                () -> partition.extend(delivery, DueTime.toMicros(lease)));
    }

    void redrive(String deadLetter, ClaimId held) {
        submit(
                "redrive",
                Json.object("id", deadLetter, "claimId", held == null ? null : held.bytes()),
                () -> queue.redrive(deadLetter, held));
    }

    // What has no name of its own

    /** A consumer's heartbeats; the version of the client is 1.0. */
    ConsumerHeartbeat heartbeat(String consumer, String name) {
        long bits =
                ByteBuffer.wrap(consumer.getBytes(StandardCharsets.US_ASCII)).getLong();
        UnbatchedCalls calls = ClientAccess.calls(client);
        return new ConsumerHeartbeat(
                arguments -> {
                    String text = new String((byte[]) arguments[1], StandardCharsets.UTF_8);
                    arguments[1] =
                            text.replace(ConsumerHeartbeat.VERSION, "1.0").getBytes(StandardCharsets.UTF_8);
                    heartbeat = calls.once(address(), LuaScript.HEARTBEAT, arguments);
                    return heartbeat;
                },
                timers,
                new ConsumerId(bits),
                name,
                new ConsumerHeartbeat.Listener() {
                    @Override
                    public void known() {}

                    @Override
                    public void lost(long seenMicros) {}
                });
    }

    /** What a consumer's heartbeat sends. */
    void beat(String name, Runnable beat) {
        call(name, Json.object("consumer", "consumc0"), () -> {
            beat.run();
            return recorder.quiet(heartbeat);
        });
    }

    DelayQueueClient client() {
        return client;
    }

    QueueAddress address() {
        return ((RedisDelayQueue) queue).partitions().get(0).address();
    }

    /** The last call is sent once more, as it is. */
    void again() {
        call("again", Map.of(), recorder::again);
    }

    /** A call that no client makes: it is refused. The keys are all that the script has, or only the first ones. */
    void refused(LuaScript script, Object... arguments) {
        refused(script, false, arguments);
    }

    void refused(LuaScript script, boolean brief, Object... arguments) {
        QueueKeys keys = script == LuaScript.REGISTER || script == LuaScript.QUEUES
                ? QueueKeys.registry(VectorRecorder.PREFIX)
                : address().keys();
        List<Object> all = keys.of(script);
        call(
                "refused",
                Map.of(),
                () -> recorder.send(
                        script, brief ? all.subList(0, script.keyNames().size()) : all, arguments));
    }

    void redis(String... command) {
        recorder.command(command);
    }

    @Override
    public void close() {
        client.close();
    }
}
