// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.fake.FakeCaller;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.request.RequestBatcher;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;

/** The agreement on the number of partitions, on a virtual clock and without Redis. */
class PartitionCountTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration MOMENT = Duration.ofNanos(1);

    private final FakeCaller redis = new FakeCaller();
    private final FakeTimers timers = new FakeTimers();
    private final QueueAddress root = new QueueAddress("orders", "", QueueKeys.of("redis-delay", "orders"));
    private final PartitionCount count = count(Duration.ofMinutes(10));
    private final List<String> passed = new ArrayList<>();

    private PartitionCount count(Duration requestTimeout) {
        return new PartitionCount(root, 3, new UnbatchedCalls(redis, timers, new Random(1), requestTimeout), timers);
    }

    private void holds(int partitions) {
        redis.answer(Integer.toString(partitions).getBytes(StandardCharsets.US_ASCII));
    }

    private CompletableFuture<String> ask(String name) {
        return count.ask(() -> {
            passed.add(name);
            return CompletableFuture.completedFuture(name);
        });
    }

    private Submission<String> submit(String name) {
        return count.submit(() -> {
            passed.add(name);
            SubmissionPromise<String> submission = new SubmissionPromise<>();
            submission.succeed(name);
            return submission;
        });
    }

    private static Throwable failure(CompletableFuture<?> call) {
        return ErrorText.unwrap(call.handle((reply, error) -> error).getNow(null));
    }

    private static void assertMismatch(CompletableFuture<?> call) {
        assertThat(failure(call))
                .isInstanceOfSatisfying(PartitionMismatchException.class, e -> assertThat(e.getPartitions())
                        .isEqualTo(6))
                .hasMessageStartingWith(
                        "queue 'orders' has 6 partitions, and option 'partitions' is 3; nothing was changed");
    }

    @Test
    void should_ask_once_for_calls_that_wait_and_keep_their_order() {
        CompletableFuture<String> a = ask("a");
        Submission<String> b = submit("b");
        CompletableFuture<String> c = ask("c");
        assertThat(redis.count()).isOne();
        assertThat(redis.last().argument(0)).isEqualTo("3");
        assertThat(passed).isEmpty();
        holds(3);
        assertThat(passed).containsExactly("a", "b", "c");
        assertThat(a).isCompletedWithValue("a");
        assertThat(b.result()).isCompletedWithValue("b");
        assertThat(b.outcome()).isCompletedWithValue("b");
        assertThat(c).isCompletedWithValue("c");
    }

    @Test
    void should_let_calls_pass_at_once_when_Redis_has_agreed() {
        ask("a");
        holds(3);
        assertThat(ask("b")).isCompletedWithValue("b");
        assertThat(submit("c").result()).isCompletedWithValue("c");
        assertThat(redis.count()).isOne();
    }

    @Test
    void should_fail_calls_with_another_number_and_ask_again_for_the_next_one() {
        CompletableFuture<String> a = ask("a");
        Submission<String> b = submit("b");
        holds(6);
        assertMismatch(a);
        assertMismatch(b.result());
        assertMismatch(b.outcome());
        CompletableFuture<String> c = ask("c");
        assertThat(redis.count()).isEqualTo(2);
        holds(3);
        assertThat(c).isCompletedWithValue("c");
        assertThat(passed).containsExactly("c");
    }

    @Test
    void should_ask_anew_for_a_caller_that_tries_again_as_soon_as_it_is_told_of_a_failure() {
        int[] tries = new int[1];
        CompletableFuture<String> a = ask("a").exceptionallyCompose(error -> {
            tries[0]++;
            return ask("again");
        });
        holds(6);
        assertThat(tries[0]).isOne();
        assertThat(redis.count()).isEqualTo(2);
        holds(3);
        assertThat(a).isCompletedWithValue("again");
    }

    @Test
    void should_ask_again_after_a_minute_while_calls_pass() {
        ask("a");
        holds(3);
        timers.advance(MINUTE.minus(MOMENT));
        ask("b");
        assertThat(redis.count()).isOne();
        timers.advance(MOMENT);
        assertThat(ask("c")).as("does not wait").isCompletedWithValue("c");
        assertThat(submit("d").result()).isCompletedWithValue("d");
        assertThat(redis.count()).as("asked once").isEqualTo(2);
        holds(3);
        timers.advance(MINUTE.minus(MOMENT));
        ask("e");
        assertThat(redis.count()).isEqualTo(2);
    }

    @Test
    void should_refuse_calls_when_the_number_is_another_one_after_a_minute() {
        ask("a");
        holds(3);
        timers.advance(MINUTE);
        ask("b");
        holds(6);
        CompletableFuture<String> c = ask("c");
        assertThat(c).isNotDone();
        holds(6);
        assertMismatch(c);
        assertThat(passed).containsExactly("a", "b");
    }

    @Test
    void should_go_on_while_Redis_does_not_answer_if_it_has_agreed_before() {
        ask("a");
        holds(3);
        timers.advance(MINUTE);
        ask("b");
        redis.fail(new RedisException("NOPERM User app has no permissions"));
        assertThat(ask("c")).isCompletedWithValue("c");
        assertThat(redis.count()).as("not at each call").isEqualTo(2);
        timers.advance(MINUTE);
        ask("d");
        assertThat(redis.count()).isEqualTo(3);
    }

    @Test
    void should_wait_for_Redis_and_send_nothing_before() {
        CompletableFuture<String> a = ask("a");
        redis.fail(new RedisConnectionException("Unable to connect to Redis server"));
        timers.advance(Duration.ofMillis(100));
        assertThat(redis.count()).isEqualTo(2);
        assertThat(passed).isEmpty();
        holds(3);
        assertThat(a).isCompletedWithValue("a");
    }

    @Test
    void should_fail_calls_when_Redis_has_not_answered_within_the_request_timeout() {
        PartitionCount impatient = count(Duration.ofMillis(1));
        Submission<String> call = impatient.submit(() -> {
            throw new AssertionError("sent");
        });
        assertThat(call.result()
                        .orTimeout(20, TimeUnit.SECONDS)
                        .handle((done, error) -> ErrorText.unwrap(error))
                        .join())
                .isInstanceOf(DelayQueueException.class)
                .hasMessageStartingWith("queue 'orders': ")
                .hasMessageContaining("did not answer within PT0.001S");
    }

    @Test
    void should_bound_the_calls_that_wait() {
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int i = 0; i < RequestBatcher.MAX_WAITING_REQUESTS; i++) {
            all.add(ask("m" + i));
        }
        assertThat(failure(submit("one too many").result()))
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessage("queue 'orders': " + RequestBatcher.MAX_WAITING_REQUESTS
                        + " requests wait to learn how many partitions it has; nothing was sent");
        holds(3);
        assertThat(all).allSatisfy(call -> assertThat(call).isCompleted());
        assertThat(passed).hasSize(RequestBatcher.MAX_WAITING_REQUESTS);
    }

    @Test
    void should_hand_on_what_a_call_fails_with() {
        RuntimeException thrown = new IllegalArgumentException("bad id");
        Submission<String> submitted = count.submit(() -> {
            throw thrown;
        });
        CompletableFuture<String> asked = count.ask(() -> {
            throw thrown;
        });
        Submission<String> failed = count.submit(() -> SubmissionPromise.failed(thrown));
        holds(3);
        assertThat(failure(submitted.result())).isSameAs(thrown);
        assertThat(failure(asked)).isSameAs(thrown);
        assertThat(failure(failed.outcome())).isSameAs(thrown);
    }

    @Test
    void should_check_without_letting_calls_wait() {
        CompletableFuture<Void> check = count.check();
        holds(6);
        assertMismatch(check);
        CompletableFuture<Void> second = count.check();
        holds(3);
        assertThat(second).isCompleted();
    }
}
