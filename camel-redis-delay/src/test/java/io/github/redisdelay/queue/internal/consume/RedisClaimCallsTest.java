// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.fake.FakeCaller;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Session;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;

/** How a claim is repeated until Redis answers, on a virtual clock and without Redis. */
class RedisClaimCallsTest {

    private final FakeTimers timers = new FakeTimers();
    private final FakeCaller redis = new FakeCaller();
    private final AtomicLong sequence = new AtomicLong(41);
    private final List<Throwable> failed = new ArrayList<>();
    private int released;
    private final RedisClaimCalls calls = new RedisClaimCalls(
            new Session("client-c0".getBytes(StandardCharsets.ISO_8859_1), sequence::incrementAndGet),
            "c0 wakeup:client".getBytes(StandardCharsets.ISO_8859_1),
            QueueAddress.of("redis-delay", "orders"),
            redis,
            timers,
            new Random(3),
            failed::add,
            () -> released++);

    private static final ClaimRequest REQUEST = new ClaimRequest(
            ClaimId.of("0123456789abcdef".getBytes(StandardCharsets.ISO_8859_1)),
            30_000_000,
            7,
            3,
            true,
            28_000_000,
            ClaimRequest.NO_BATCH);

    private static List<String> arguments(FakeCaller.Sent call) {
        return IntStream.range(0, call.arguments().size())
                .mapToObj(call::argument)
                .toList();
    }

    private static List<Object> emptyReply() {
        byte[] head = ByteBuffer.allocate(40)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(FakeCaller.TIME)
                .putDouble(1_000_000)
                .putDouble(-1)
                .putDouble(30_000_000)
                .putInt(0)
                .putInt(0)
                .array();
        return List.of(head, new byte[0], new byte[0], new byte[0], new byte[0]);
    }

    @Test
    void should_send_the_arguments_in_the_order_of_the_script() {
        CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
        FakeCaller.Sent call = redis.last();
        assertThat(call.script()).isEqualTo(LuaScript.CLAIM);
        assertThat(arguments(call))
                .containsExactly(
                        "client-c0",
                        "42",
                        "0123456789abcdef",
                        "30000000",
                        "7",
                        "3",
                        "1048576",
                        "redis-delay:{orders}",
                        "c0 wakeup:client",
                        "1",
                        "28000000");
        redis.answer(emptyReply());
        assertThat(reply)
                .isCompletedWithValue(
                        new ClaimReply(FakeCaller.TIME, 1_000_000, -1, 30_000_000, List.of(), List.of(), false));
    }

    @Test
    void should_repeat_the_same_bytes_until_there_is_an_answer() {
        CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
        FakeCaller.Sent original = redis.last();
        for (int attempt = 2; attempt <= 100; attempt++) {
            redis.fail(new TimeoutException("no answer"));
            assertThat(redis.count()).isEqualTo(attempt - 1);
            long base = attempt > 8 ? 2_000 : Math.min(2_000, 50L << (attempt - 2));
            timers.advance(Duration.ofMillis(base * 3 / 4 - 1));
            assertThat(redis.count()).isEqualTo(attempt - 1);
            timers.advance(Duration.ofMillis(base / 2 + 1));
            assertThat(redis.count()).isEqualTo(attempt);
            assertThat(redis.last().sameBytes(original)).isTrue();
            assertThat(redis.last().attempt()).isEqualTo(attempt);
        }
        assertThat(failed).hasSize(99);
        assertThat(reply).isNotDone();
        redis.answer(emptyReply());
        assertThat(reply).isCompleted();
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_try_again_when_the_sending_itself_throws() {
        redis.failure = new IllegalStateException("no connection");
        CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
        timers.advance(Duration.ofSeconds(1));
        redis.failure = null;
        timers.advance(Duration.ofSeconds(5));
        redis.answer(emptyReply());
        assertThat(reply).isCompleted();
        calls.close();
        assertThat(released).isEqualTo(1);
    }

    @Test
    void should_fail_when_redis_refuses() {
        CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
        redis.fail(new RedisException("NOPERM this user has no permissions"));
        assertThatThrownBy(reply::get).cause().hasMessageContaining("NOPERM");
        assertThat(failed).isEmpty();
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_fail_when_the_answer_cannot_be_read() {
        for (Object answer : List.of(List.of(), List.of(new byte[5]), new byte[32], "text")) {
            CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
            redis.answer(answer);
            assertThat(reply).isCompletedExceptionally();
        }
        calls.close();
        assertThat(released).isEqualTo(1);
    }

    @Test
    void should_number_its_claims_upwards() {
        calls.claim(REQUEST, new CompletableFuture<>());
        redis.answer(emptyReply());
        calls.claim(REQUEST, new CompletableFuture<>());
        assertThat(redis.last().sequence()).isGreaterThan(redis.sent.get(0).sequence());
    }

    @Test
    void should_free_its_name_when_closed() {
        calls.claim(REQUEST, new CompletableFuture<>());
        redis.answer(emptyReply());
        assertThat(released).isZero();
        calls.close();
        assertThat(released).isEqualTo(1);
    }

    @Test
    void should_free_its_name_only_when_the_last_claim_is_answered() {
        calls.claim(REQUEST, new CompletableFuture<>());
        calls.close();
        assertThat(released).as("a repeat could still be on its way").isZero();
        redis.fail(new TimeoutException("no answer"));
        timers.advance(Duration.ofSeconds(5));
        assertThat(released).isZero();
        redis.answer(emptyReply());
        assertThat(released).isEqualTo(1);
    }

    @Test
    void should_tell_its_name_also_when_it_does_not_wait_for_more() {
        calls.claim(
                new ClaimRequest(REQUEST.claimId(), 1, 1, 1, false, 1, ClaimRequest.NO_BATCH),
                new CompletableFuture<>());
        assertThat(redis.last().argument(8)).isEqualTo("c0 wakeup:client");
    }

    @Test
    void should_leave_by_a_claim_of_nothing_that_is_not_repeated() {
        calls.claim(REQUEST, new CompletableFuture<>());
        redis.answer(emptyReply());
        calls.leave(REQUEST.claimId()).run();
        FakeCaller.Sent left = redis.last();
        assertThat(left.sequence()).isGreaterThan(redis.sent.get(0).sequence());
        assertThat(arguments(left).subList(3, 6)).containsExactly("1", "0", "0");
        assertThat(left.argument(8)).isEqualTo("c0 wakeup:client");
        redis.fail(new TimeoutException("no answer"));
        timers.advance(Duration.ofMinutes(1));
        assertThat(redis.count()).isEqualTo(2);
        redis.failure = new IllegalStateException("no connection");
        calls.leave(REQUEST.claimId()).run();
        assertThat(failed).isEmpty();
    }

    @Test
    void should_not_leave_with_a_name_that_may_be_anothers_by_now() {
        calls.close();
        calls.leave(REQUEST.claimId()).run();
        assertThat(redis.count()).isZero();
    }

    @Test
    void should_free_its_name_once_and_send_nothing_when_a_claim_comes_after_it_was_closed() {
        calls.close();
        CompletableFuture<ClaimReply> reply = calls.claim(REQUEST, new CompletableFuture<>());
        assertThat(reply).isCompletedExceptionally();
        assertThat(redis.count()).isZero();
        assertThat(released).isEqualTo(1);
    }
}
