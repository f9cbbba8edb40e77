// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import io.github.redisdelay.queue.internal.redis.Waited;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** Waiting again for what is stored, on a virtual clock and without Redis, and what comes of it after a failover. */
class DurabilityConfirmationsTest {

    private static final Durability WANTED = new Durability(1, false, Duration.ofSeconds(1));

    private final FakeTimers timers = new FakeTimers();
    private final List<CompletableFuture<DurableReply>> asked = new ArrayList<>();
    private final List<Integer> attempts = new ArrayList<>();
    private final ScriptExecutor redis = new ScriptExecutor() {
        @Override
        public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
            throw new AssertionError("nothing is sent again by who waits");
        }

        @Override
        public CompletableFuture<DurableReply> awaitDurable(QueueKeys queue, int attempt, Durability wanted) {
            assertThat(queue.base()).isEqualTo("redis-delay:{orders}");
            asked.add(new CompletableFuture<>());
            attempts.add(attempt);
            return asked.get(asked.size() - 1);
        }
    };
    private DurabilityConfirmations waits = waits(WANTED);
    private final QueueAddress queue = QueueAddress.of("redis-delay", "orders");
    private final List<SubmissionPromise<String>> sentAgain = new ArrayList<>();

    private DurabilityConfirmations waits(Durability wanted) {
        return new DurabilityConfirmations(
                redis,
                new ClientOptions("redis-delay", Duration.ofSeconds(5), wanted),
                timers,
                new Random(1),
                new Request.Sender() {
                    @Override
                    @SuppressWarnings("unchecked")
                    public <T> Submission<T> submit(Request<T> request) {
                        sentAgain.add((SubmissionPromise<String>) request.submission());
                        return request.submission();
                    }
                });
    }

    /** A schedule of message 'a'. */
    private final class Schedule extends Request<String> {
        private final String answered;
        private final boolean repeatable;

        /**
         * @param answered what it was answered
         * @param repeatable whether it does no harm to be executed twice
         */
        Schedule(String answered, boolean repeatable) {
            super(queue, LuaScript.SCHEDULE, "a", 0);
            this.answered = answered;
            this.repeatable = repeatable;
        }

        @Override
        protected String read(long timeMicros, int outcome, long valueMicros) {
            throw new AssertionError("no script answers");
        }

        @Override
        protected Request<String> afterFailover(String result) {
            assertThat(result).isEqualTo(answered);
            return repeatable ? new Schedule(null, false) : null;
        }
    }

    private Submission<String> await(String result) {
        return await(result, "first", true);
    }

    private Submission<String> await(String result, boolean repeatable) {
        return await(result, "first", repeatable);
    }

    /** Waits once more for a schedule that a master with this history has executed. */
    private Submission<String> await(String result, String history, boolean repeatable) {
        Request<String> request = new Schedule(result, repeatable);
        waits.tell(request, result, new UnmetDurability(WANTED, 0, false, history, null));
        assertThat(request.submission().isUnconfirmed()).isTrue();
        return request.submission().confirm();
    }

    private static byte[] master(String id) {
        return id.getBytes(StandardCharsets.US_ASCII);
    }

    private void answer(int number, byte[] master, boolean replicated) {
        UnmetDurability unmet = replicated ? null : new UnmetDurability(WANTED, 0, false, null, null);
        asked.get(number).complete(new DurableReply(master, unmet));
    }

    @Test
    void should_be_done_when_it_is_replicated() {
        Submission<String> a = await("a");
        Submission<String> b = await("b");
        Submission<String> c = await("c");
        assertThat(asked).hasSize(1);
        answer(0, master("first"), true);
        assertThat(a).isCompletedWithValue("a");
        assertThat(b).as("came later").isNotDone();
        assertThat(asked).hasSize(2);
        answer(1, master("first"), true);
        assertThat(b).isCompletedWithValue("b");
        assertThat(c.outcome()).isCompletedWithValue("c");
        assertThat(asked).as("nobody waits").hasSize(2);
        assertThat(timers.waiting()).isZero();
        assertThat(sentAgain).isEmpty();
    }

    @Test
    void should_be_sent_again_when_another_master_answers() {
        Submission<String> a = await("a");
        answer(0, master("second"), true);
        assertThat(sentAgain).hasSize(1);
        assertThat(a).isNotDone();
        sentAgain.get(0).succeed("a of the second");
        assertThat(a).isCompletedWithValue("a of the second");
    }

    @Test
    void should_be_sent_again_when_nothing_is_known_of_it() {
        await("a");
        answer(0, new byte[0], true);
        await("b", null, true);
        answer(1, master("first"), true);
        assertThat(sentAgain).hasSize(2);
        // And fails as that one does, to be waited for once more.
        Submission<String> c = await("c");
        answer(2, master("second"), false);
        SubmissionPromise<String> next = new SubmissionPromise<>();
        sentAgain
                .get(2)
                .unconfirmed(
                        new UnmetDurability(WANTED, 0, false, "second", null).exception("orders", "stored", "c"),
                        () -> next);
        assertThat(c).isCompletedExceptionally();
        assertThat(c.isUnconfirmed()).isTrue();
        assertThat(c.confirm()).isSameAs(next);
    }

    @Test
    void should_tell_that_nobody_can_know_where_it_may_undo_what_others_did() {
        List<byte[]> masters = List.of(new byte[0], master("second"));
        for (int i = 0; i < masters.size(); i++) {
            Submission<String> a = await("a", false);
            answer(i, masters.get(i), true);
            assertThat(a.outcome().handle((value, error) -> error).getNow(null))
                    .isInstanceOfSatisfying(ReplicationTimeoutException.class, error -> assertThat(error.getResult())
                            .isEqualTo("a"))
                    .hasMessageContaining("nobody can tell whether a failover has undone it")
                    .hasMessageContaining("it was not made again");
            assertThat(a.isUnconfirmed()).isTrue();
        }
        assertThat(sentAgain).isEmpty();
    }

    @Test
    void should_wait_for_whatever_another_master_has_where_nothing_would_be_sent() {
        Submission<String> a = waits.await(queue, "the changes of 2 messages were made", "a");
        answer(0, master("second"), false);
        assertThat(a.isUnconfirmed()).isTrue();
        Submission<String> again = a.confirm();
        answer(1, master("third"), true);
        assertThat(again).isCompletedWithValue("a");
    }

    @Test
    void should_say_that_it_is_still_not_replicated() {
        Submission<String> a = await("a");
        answer(0, master("first"), false);
        assertThat(a.outcome().handle((value, error) -> error).getNow(null))
                .isInstanceOf(ReplicationTimeoutException.class)
                .hasMessage(
                        "queue 'orders': message 'a' is stored, not known to be replicated: 0 of 1 replicas within 1 s");
        Submission<String> again = a.confirm();
        answer(1, master("first"), true);
        assertThat(again).isCompletedWithValue("a");
        assertThat(sentAgain).isEmpty();
    }

    @Test
    void should_ask_until_Redis_answers_and_end_the_wait_of_the_caller_before() {
        Submission<String> a = await("a");
        asked.get(0).completeExceptionally(new RedisTimeoutException("no answer"));
        timers.advance(Duration.ofSeconds(1));
        assertThat(attempts).containsExactly(1, 2);
        asked.get(1).completeExceptionally(new RedisException("UNBLOCKED force unblock from blocking operation"));
        timers.advance(Duration.ofSeconds(4));
        assertThat(attempts).containsExactly(1, 2, 3);
        assertThat(a.handle((value, error) -> error).getNow(null))
                .isInstanceOfSatisfying(RequestTimeoutException.class, error -> assertThat(error.isPossiblyStored())
                        .isTrue())
                .hasMessageContaining("message 'a' is stored, not known to be replicated");
        assertThat(a.outcome()).isNotDone();
        answer(2, master("first"), true);
        assertThat(a.outcome()).isCompletedWithValue("a");
    }

    @Test
    void should_tell_why_Redis_does_not_wait() {
        Submission<String> a = await("a");
        asked.get(0).completeExceptionally(new RedisException("NOPERM this user has no permissions to run 'wait'"));
        assertThat(a.outcome().handle((value, error) -> error).getNow(null))
                .isInstanceOf(ReplicationTimeoutException.class)
                .hasMessageContaining("Redis does not wait for it: NOPERM this user");
        assertThat(a.isUnconfirmed()).isTrue();
    }

    /** By what WAITAOF answers: on how many disks of the master it is, and on those of how many replicas. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "done",
            value = {
                "0, 0, 0, the master does not have it",
                "0, 1, 0, done",
                "0, 1, 1, done",
                "0, 1, 2, done",
                "1, 0, 0, 'the master does not have it, 0 of 1 replicas have it,'",
                "1, 1, 0, 'the master has it, 0 of 1 replicas have it,'",
                "1, 1, 1, done",
                "1, 1, 2, done",
                "2, 1, 1, 'the master has it, 1 of 2 replicas have it,'",
                "2, 1, 2, done",
                // A replica can be faster than its master.
                "1, 0, 1, 'the master does not have it, 1 of 1 replicas have it,'"
            })
    void should_be_done_when_it_is_on_the_disks(int wantedReplicas, long local, long replicas, String missing) {
        Durability wanted = new Durability(wantedReplicas, true, Duration.ofSeconds(1));
        waits = waits(wanted);
        Submission<String> a = await("a");
        Waited waited = Waited.ofWaitaof(List.of(local, replicas));
        asked.get(0)
                .complete(new DurableReply(master("first"), UnmetDurability.missing(wanted, waited, "first", null)));
        if (missing == null) {
            assertThat(a.outcome()).isCompletedWithValue("a");
        } else {
            assertThat(a.outcome().handle((value, error) -> error).getNow(null))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessage("queue 'orders': message 'a' is stored, not known to be on disk: " + missing
                            + " within 1 s");
            assertThat(a.isUnconfirmed()).isTrue();
        }
    }

    @Test
    void should_end_with_its_client() {
        Submission<String> a = await("a");
        waits.close(new DelayQueueException("the delay queue client is closed"));
        assertThat(a.outcome()).isCompletedExceptionally();
        assertThat(await("b").outcome()).isCompletedExceptionally();
        answer(0, master("first"), true);
        assertThat(a).isCompletedExceptionally();
    }
}
