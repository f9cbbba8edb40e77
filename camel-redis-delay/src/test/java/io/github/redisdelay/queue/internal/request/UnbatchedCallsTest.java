// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.fake.FakeCaller;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** Calls that are sent alone, on a virtual clock and without Redis. */
class UnbatchedCallsTest {

    private static final Duration LONG = Duration.ofMinutes(10);

    private final FakeCaller redis = new FakeCaller();
    private final FakeTimers timers = new FakeTimers();
    private final UnbatchedCalls calls = new UnbatchedCalls(redis, timers, new Random(1), LONG);
    private final QueueAddress queue = QueueAddress.of("redis-delay", "orders");

    private static Throwable failure(CompletableFuture<?> call) {
        return ErrorText.unwrap(call.handle((reply, error) -> error).getNow(null));
    }

    @Test
    void should_ask_again_until_redis_executes_it() {
        CompletableFuture<Object> answer = calls.untilAnswered(queue, LuaScript.GET, (Object) new byte[] {'a'});
        redis.fail(new RedisException("TRYAGAIN Multiple keys request during rehashing of slot"));
        timers.advance(Duration.ofMillis(100));
        redis.fail(new RedisException("CLUSTERDOWN Hash slot not served"));
        timers.advance(Duration.ofMillis(200));
        redis.fail(new RedisConnectionException("Unable to connect to Redis server"));
        timers.advance(Duration.ofMillis(400));
        assertThat(redis.count()).isEqualTo(4);
        assertThat(redis.last().sameBytes(redis.sent.get(0))).isTrue();
        assertThat(answer).isNotDone();
        redis.answer("found");
        assertThat(answer).isCompletedWithValue("found");
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_ask_once_where_nobody_wants_to_wait() {
        CompletableFuture<Object> answer = calls.once(queue, LuaScript.STATS);
        redis.fail(new RedisException("LOADING Redis is loading the dataset in memory"));
        assertThat(failure(answer))
                .isInstanceOf(DelayQueueException.class)
                .hasMessage("queue 'orders': LOADING Redis is loading the dataset in memory");
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_not_ask_again_what_is_refused() {
        CompletableFuture<Object> answer = calls.untilAnswered(queue, LuaScript.GET, (Object) new byte[] {'a'});
        redis.fail(new RedisException("NOPERM User app has no permissions to run the 'evalsha' command"));
        assertThat(failure(answer)).hasMessageStartingWith("queue 'orders': NOPERM User app");
        assertThat(timers.waiting()).isZero();
    }

    /** It may have been executed, and its answer may take as long as this one did. */
    @Test
    void should_not_ask_again_what_has_no_answer() {
        CompletableFuture<Object> answer = calls.untilAnswered(queue, LuaScript.REPAIR, (Object) new byte[] {'m'});
        redis.fail(new RedisTimeoutException("Redis server response timeout (16000 ms) occurred"));
        assertThat(failure(answer)).hasMessageContaining("response timeout (16000 ms)");
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_say_why_it_gave_up_when_the_request_timeout_is_over() throws Exception {
        UnbatchedCalls impatient = new UnbatchedCalls(redis, timers, new Random(1), Duration.ofMillis(500));
        CompletableFuture<Object> answer = impatient.untilAnswered(queue, LuaScript.GET, (Object) new byte[] {'a'});
        redis.fail(new RedisException("TRYAGAIN Multiple keys request during rehashing of slot"));
        Throwable error = answer.handle((reply, e) -> {
                    timers.advance(Duration.ofSeconds(10)); // as soon as it is told
                    return ErrorText.unwrap(e);
                })
                .thenApply(Throwable.class::cast)
                .get(20, TimeUnit.SECONDS);
        assertThat(error)
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessage("queue 'orders': Redis did not answer within PT0.5S"
                        + " (TRYAGAIN Multiple keys request during rehashing of slot)");
        assertThat(redis.count()).as("nobody waits any more").isOne();
        assertThat(timers.waiting()).isZero();
        Throwable silent = impatient
                .once(queue, LuaScript.STATS)
                .handle((reply, e) -> ErrorText.unwrap(e))
                .thenApply(Throwable.class::cast)
                .get(20, TimeUnit.SECONDS);
        assertThat(silent)
                .hasMessage("queue 'orders': Redis did not answer within PT0.5S")
                .extracting(e -> ((DelayQueueException) e).getClientError())
                .isInstanceOf(TimeoutException.class);
    }

    @Test
    void should_fail_when_it_is_closed() {
        DelayQueueException reason = new DelayQueueException("the delay queue client is closed");
        CompletableFuture<Object> answer = calls.untilAnswered(queue, LuaScript.GET, (Object) new byte[] {'a'});
        redis.fail(new RedisException("TRYAGAIN Multiple keys request during rehashing of slot"));
        calls.close(reason);
        assertThat(failure(answer)).as("at once, as timers end with the client").isSameAs(reason);
        timers.advance(Duration.ofSeconds(10));
        assertThat(failure(calls.once(queue, LuaScript.STATS))).isSameAs(reason);
        assertThat(redis.count()).isOne();
    }
}
