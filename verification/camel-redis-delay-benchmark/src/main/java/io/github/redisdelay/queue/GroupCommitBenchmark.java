// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.internal.command.ScheduleCommand;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.request.RequestBatcher;
import io.github.redisdelay.queue.internal.request.RequestKind;
import io.github.redisdelay.queue.internal.request.Session;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A batcher whose Redis answers at once: what group commit itself costs for each message. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GroupCommitBenchmark {

    private static final int TOGETHER = 256;
    private static final int ARGUMENTS_BEFORE_REQUESTS = 3;
    private static final int ARGUMENTS_OF_REQUEST = 5;
    private static final QueueAddress ADDRESS = QueueAddress.of("redis-delay", "jmh");

    private final ScheduleRequest message = ScheduleRequest.of(null, new byte[202], DueTime.after(Duration.ofHours(1)));
    private ScheduledTimers timers;
    private RequestBatcher batcher;

    /** The call that is not answered yet, and the one before it that waits for its answer. */
    private CompletableFuture<Object> held;

    private boolean holding;

    @Setup
    public void open() {
        timers = new ScheduledTimers();
        batcher = new RequestBatcher(
                ADDRESS,
                RequestKind.CHANGE,
                Durability.NONE,
                (script, keys, arguments, attempt) -> answer(arguments),
                null,
                new Backoff(timers, new Random(1)),
                List.of(new Session(new byte[18], new AtomicLong()::incrementAndGet)),
                () -> {});
    }

    @TearDown
    public void close() {
        batcher.close(new DelayQueueException("the end"));
        timers.close();
    }

    /** A request that meets nobody: one call. */
    @Benchmark
    public Object alone() {
        return submit();
    }

    /** 256 requests in two calls: all but the first wait until that one is answered. */
    @Benchmark
    @OperationsPerInvocation(TOGETHER)
    public Object together() {
        holding = true;
        Object last = null;
        for (int i = 0; i < TOGETHER; i++) {
            last = submit();
        }
        holding = false;
        held.complete(reply(1));
        return last;
    }

    private Submission<ScheduleResult> submit() {
        ScheduleCommand command = new ScheduleCommand(ADDRESS, message, "0123456789abcdef", 0, 0);
        command.waitUntil(timers.nanoTime() + 5_000_000_000L);
        batcher.submit(List.of(command), 0);
        return command.submission();
    }

    private CompletableFuture<Object> answer(Object[] arguments) {
        if (holding) {
            held = new CompletableFuture<>();
            return held;
        }
        return CompletableFuture.completedFuture(
                reply((arguments.length - ARGUMENTS_BEFORE_REQUESTS) / ARGUMENTS_OF_REQUEST));
    }

    private static byte[] reply(int requests) {
        ByteBuffer reply = ByteBuffer.allocate(8 + 9 * requests).order(ByteOrder.LITTLE_ENDIAN);
        reply.putDouble(1.7e15);
        for (int i = 0; i < requests; i++) {
            reply.put((byte) 1).putDouble(1.7e15);
        }
        return reply.array();
    }
}
