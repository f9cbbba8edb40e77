// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import static io.github.redisdelay.queue.fake.FakeCaller.reply;
import static io.github.redisdelay.queue.fake.FakeCaller.replyToAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.fake.FakeCaller;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.redis.Backoff;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.testkit.RandomTests;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisException;

/** How requests share calls, on a virtual clock and without Redis. */
@Timeout(60)
class RequestBatcherTest {

    /** Arguments of a call in front of the first request's: session, number, the queue's base key. */
    private static final int HEAD = 3;

    private static final long WAIT = Duration.ofSeconds(5).toNanos();

    private final FakeTimers timers = new FakeTimers();
    private final FakeCaller redis = new FakeCaller();
    private final AtomicLong sequence = new AtomicLong();
    private final RequestBatcher batcher = batcher(RequestKind.CHANGE);

    private RequestBatcher batcher(RequestKind kind) {
        return batcher(kind, "client-session");
    }

    private RequestBatcher batcher(RequestKind kind, String... names) {
        return batcher(kind, redis, names);
    }

    private RequestBatcher batcher(RequestKind kind, ScriptExecutor redis, String... names) {
        return new RequestBatcher(
                QueueAddress.of("redis-delay", "orders"),
                kind,
                Durability.NONE,
                redis,
                null,
                new Backoff(timers, new Random(3)),
                sessions(names),
                () -> {});
    }

    private List<Session> sessions(String... names) {
        return Arrays.stream(names)
                .map(name -> new Session(bytes(name), sequence::incrementAndGet))
                .toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private Request<String> request(LuaScript script, String id, int size, long deadline) {
        return new TestRequest(script, id, size, deadline, bytes(id));
    }

    private Submission<String> submit(RequestBatcher to, LuaScript script, String id) {
        Request<String> request = request(script, id, 10, timers.nanoTime() + WAIT);
        assertThat(to.submit(List.of(request), 0)).isEqualTo(1);
        return request.submission();
    }

    private Submission<String> submit(String id) {
        return submit(batcher, LuaScript.SCHEDULE, id);
    }

    private List<String> idsOf(FakeCaller.Sent call) {
        List<String> ids = new ArrayList<>();
        for (int i = HEAD; i < call.arguments().size(); i++) {
            ids.add(call.argument(i));
        }
        return ids;
    }

    private void advance(Duration duration) {
        timers.advance(duration);
    }

    private static Duration s(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    @Test
    void should_send_a_lone_request_at_once() {
        Submission<String> a = submit("a");
        assertThat(redis.count()).isEqualTo(1);
        assertThat(redis.last().argument(0)).isEqualTo("client-session");
        assertThat(redis.last().argument(2)).isEqualTo("redis-delay:{orders}");
        redis.answer(reply(1, 77));
        assertThat(a.result()).isCompletedWithValue("a:1:77");
        assertThat(a.outcome()).isCompletedWithValue("a:1:77");
        assertThat(batcher.isIdle()).isTrue();
        assertThat(timers.waiting())
                .as("it waits for the deadline, for whoever comes next")
                .isEqualTo(1);
        timers.advance(s(5));
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_send_those_that_arrive_meanwhile_together_and_in_order() {
        submit("a");
        for (String id : List.of("b", "c", "d", "b")) {
            submit(id);
        }
        assertThat(redis.count()).as("calls while one is under way").isEqualTo(1);
        redis.answer(reply(1, 0));
        assertThat(redis.count()).isEqualTo(2);
        assertThat(idsOf(redis.last())).containsExactly("b", "c", "d", "b");
        assertThat(redis.last().sequence()).isGreaterThan(redis.sent.get(0).sequence());
    }

    @Test
    void should_give_each_caller_its_own_result() {
        submit("a");
        List<Submission<String>> submissions = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            submissions.add(submit("m" + i));
        }
        redis.answer(reply(1, 0));
        redis.answer(reply(1, 10, 2, 11, 9, 12, 4, 13, 1, 14));
        assertThat(submissions.get(0).result()).isCompletedWithValue("m0:1:10");
        assertThat(submissions.get(1).result()).isCompletedWithValue("m1:2:11");
        assertThatThrownBy(submissions.get(2).result()::get).cause().hasMessage("outcome 9 of m2");
        assertThat(submissions.get(2).outcome()).isCompletedExceptionally();
        assertThat(submissions.get(3).result()).isCompletedWithValue("m3:4:13");
        assertThat(submissions.get(4).result()).isCompletedWithValue("m4:1:14");
    }

    @Test
    void should_take_along_what_callers_ask_for_when_they_are_told() {
        Submission<String> a = submit("a");
        submit("b");
        a.result().thenAccept(result -> submit("c"));
        redis.answer(reply(1, 0));
        assertThat(redis.count()).isEqualTo(2);
        assertThat(idsOf(redis.last())).containsExactly("b", "c");
    }

    @Test
    void should_send_the_next_call_before_it_tells_the_callers_when_many_wait() {
        Submission<String> a = submit("a");
        for (int i = 0; i < 64; i++) {
            submit("m" + i);
        }
        int[] sentWhenTold = new int[1];
        a.result().thenAccept(result -> sentWhenTold[0] = redis.count());
        redis.answer(reply(1, 0));
        assertThat(sentWhenTold[0]).isEqualTo(2);
    }

    @Test
    void should_send_a_second_call_beside_the_first_only_when_many_wait() {
        RequestBatcher two = batcher(RequestKind.CHANGE, "client-0", "client-1");
        Submission<String> first = submit(two, LuaScript.SCHEDULE, "first");
        List<Submission<String>> many = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            assertThat(redis.count()).isEqualTo(1);
            many.add(submit(two, LuaScript.SCHEDULE, "m" + i));
        }
        assertThat(redis.count()).isEqualTo(2);
        assertThat(redis.sent.get(0).argument(0)).isEqualTo("client-0");
        assertThat(redis.last().argument(0)).isEqualTo("client-1");
        Submission<String> late = submit(two, LuaScript.SCHEDULE, "late");
        redis.answer(replyToAll(64, 1)); // the second one is answered first
        assertThat(many).allMatch(each -> each.result().isDone());
        assertThat(first.result()).isNotDone();
        assertThat(redis.count())
                .as("calls, while one is under way and one request waits")
                .isEqualTo(2);
        redis.sent.get(0).answer().complete(reply(1, 0));
        assertThat(first.result()).isCompletedWithValue("first:1:0");
        redis.answer(reply(1, 0));
        assertThat(late.result()).isCompletedWithValue("late:1:0");
        assertThat(two.isIdle()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"600, 4", "599, 64"})
    void should_send_a_second_call_of_two_fifths_of_those_in_play_over_a_slow_network(
            int roundTripMicros, int worthwhile) {
        RequestBatcher two = batcher(RequestKind.CHANGE, "client-0", "client-1");
        submit(two, LuaScript.SCHEDULE, "first");
        List.of("a", "b", "c", "d", "e", "f", "g", "h").forEach(id -> submit(two, LuaScript.SCHEDULE, id));
        redis.answer(reply(1, 0)); // now the call of eight is under way
        advance(Duration.ofNanos(1000L * roundTripMicros));
        submit(two, LuaScript.SCHEDULE, "ninth");
        redis.answer(replyToAll(8, 0)); // nine were in play; now the call of one is under way
        assertThat(redis.count()).isEqualTo(3);
        for (int i = 0; i < worthwhile; i++) {
            assertThat(redis.count()).as("calls, as " + i + " wait").isEqualTo(3);
            submit(two, LuaScript.SCHEDULE, "late" + i);
        }
        assertThat(redis.count()).isEqualTo(4);
        assertThat(idsOf(redis.last())).hasSize(worthwhile);
    }

    @Test
    void should_keep_the_order_of_requests_about_one_id() {
        RequestBatcher two = batcher(RequestKind.CHANGE, "client-0", "client-1");
        submit(two, LuaScript.SCHEDULE, "x");
        for (int i = 0; i < 40; i++) {
            submit(two, LuaScript.SCHEDULE, "m" + i);
        }
        Submission<String> cancel = submit(two, LuaScript.SCHEDULE, "x");
        for (int i = 40; i < 70; i++) {
            submit(two, LuaScript.SCHEDULE, "m" + i);
        }
        assertThat(redis.count()).isEqualTo(2);
        assertThat(idsOf(redis.last()))
                .as("all but what follows 'x'")
                .hasSize(63)
                .doesNotContain("x");
        redis.answer(replyToAll(63, 1));
        assertThat(redis.count()).as("calls, while the first 'x' is under way").isEqualTo(2);
        redis.sent.get(0).answer().complete(reply(1, 0));
        assertThat(idsOf(redis.last())).startsWith("x").hasSize(8);
        redis.answer(replyToAll(8, 2));
        assertThat(cancel.result()).isCompletedWithValue("x:2:0");
    }

    @Test
    void should_repeat_each_of_two_calls_by_itself_and_fail_both_when_it_is_closed() {
        RequestBatcher two = batcher(RequestKind.CHANGE, "client-0", "client-1");
        Submission<String> first = submit(two, LuaScript.SCHEDULE, "first");
        Submission<String> last = null;
        for (int i = 0; i < 64; i++) {
            last = submit(two, LuaScript.SCHEDULE, "m" + i);
        }
        redis.sent.get(0).answer().completeExceptionally(new RedisException("connection lost"));
        timers.advance(s(1));
        assertThat(redis.count()).isEqualTo(3);
        assertThat(redis.last().sameBytes(redis.sent.get(0))).isTrue();
        redis.sent.get(1).answer().completeExceptionally(new RedisException("connection lost"));
        two.close(new DelayQueueException("closed"));
        timers.advance(s(10));
        assertThat(redis.count()).isEqualTo(3);
        assertThat(timers.waiting()).isZero();
        assertThatThrownBy(first.result()::get).hasMessageContaining("closed");
        assertThatThrownBy(last.result()::get).hasMessageContaining("closed");
    }

    @Test
    void should_send_what_is_submitted_together_in_one_call() {
        List<Request<?>> requests = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            requests.add(request(LuaScript.SCHEDULE, "m" + i, 10, timers.nanoTime() + WAIT));
        }
        int taken = batcher.submit(requests, 0);
        assertThat(taken).isEqualTo(256);
        assertThat(idsOf(redis.last())).hasSize(256);
        assertThat(batcher.submit(requests, taken)).isEqualTo(300);
        redis.answer(replyToAll(256, 1));
        assertThat(idsOf(redis.last())).hasSize(44).endsWith("m299");
    }

    @Test
    void should_not_wait_for_room_that_only_what_it_holds_back_would_make() {
        List<Request<?>> large = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            large.add(request(LuaScript.SCHEDULE, "m" + i, i == 0 ? 10 : 70 << 20, timers.nanoTime() + WAIT));
        }
        assertThat(batcher.submit(large, 0)).as("no more than one call takes").isEqualTo(1);
        assertThat(idsOf(redis.last())).containsExactly("m0");
        assertThat(batcher.submit(large, 1)).isEqualTo(2);
        redis.answer(reply(1, 0));
        assertThat(idsOf(redis.last())).containsExactly("m1");
    }

    @Test
    void should_send_no_more_than_256_requests_in_a_call() {
        submit("first");
        for (int i = 0; i < 600; i++) {
            submit("m" + i);
        }
        redis.answer(reply(1, 0));
        List<Integer> sizes = new ArrayList<>();
        List<String> order = new ArrayList<>();
        while (redis.last().answer().getNumberOfDependents() > 0
                && !redis.last().answer().isDone()) {
            List<String> ids = idsOf(redis.last());
            sizes.add(ids.size());
            order.addAll(ids);
            redis.answer(replyToAll(ids.size(), 1));
        }
        assertThat(sizes).containsExactly(256, 256, 88);
        for (int i = 0; i < 600; i++) {
            assertThat(order.get(i)).isEqualTo("m" + i);
        }
    }

    @Test
    void should_send_no_more_than_a_megabyte_in_a_call_unless_one_request_is_larger() {
        submit("first");
        int[] sizes = {400_000, 400_000, 400_000, 5_000_000, 100, 1 << 20, 1};
        for (int i = 0; i < sizes.length; i++) {
            batcher.submit(List.of(request(LuaScript.SCHEDULE, "m" + i, sizes[i], timers.nanoTime() + WAIT)), 0);
        }
        redis.answer(reply(1, 0));
        List<List<String>> calls = new ArrayList<>();
        while (!batcher.isIdle()) {
            calls.add(idsOf(redis.last()));
            redis.answer(replyToAll(calls.get(calls.size() - 1).size(), 1));
        }
        assertThat(calls)
                .containsExactly(
                        List.of("m0", "m1"), List.of("m2"), List.of("m3"), List.of("m4"), List.of("m5"), List.of("m6"));
    }

    /** Answers one call after the other until nothing is left to do. Returns the script and ids of each. */
    private List<String> answerAll() {
        List<String> calls = new ArrayList<>();
        redis.answer(reply(1, 0));
        while (!batcher.isIdle()) {
            calls.add(redis.last().script() + " " + idsOf(redis.last()));
            redis.answer(replyToAll(idsOf(redis.last()).size(), 1));
        }
        return calls;
    }

    @Test
    void should_not_mix_scripts_in_a_call_nor_change_the_order_of_requests_about_one_id() {
        submit("first");
        submit(batcher, LuaScript.SCHEDULE, "a");
        submit(batcher, LuaScript.SCHEDULE, "b");
        submit(batcher, LuaScript.CHANGE, "a");
        submit(batcher, LuaScript.SCHEDULE, "a");
        assertThat(answerAll()).containsExactly("SCHEDULE [a, b]", "CHANGE [a]", "SCHEDULE [a]");
    }

    @Test
    void should_take_all_that_wait_for_a_script_in_one_call() {
        submit("first");
        for (String id : List.of("a", "b", "c")) {
            submit(batcher, LuaScript.CHANGE, id);
            submit(batcher, LuaScript.SCHEDULE, id + "2");
        }
        assertThat(answerAll()).containsExactly("CHANGE [a, b, c]", "SCHEDULE [a2, b2, c2]");
    }

    @Test
    void should_begin_the_next_call_with_the_request_that_waits_longest() {
        submit("first");
        submit(batcher, LuaScript.CHANGE, "lone");
        for (int i = 0; i < 300; i++) {
            submit("m" + i);
        }
        redis.answer(reply(1, 0));
        assertThat(idsOf(redis.last())).containsExactly("lone");
        submit(batcher, LuaScript.CHANGE, "lone2");
        redis.answer(reply(1, 0));
        assertThat(idsOf(redis.last())).hasSize(256);
        submit(batcher, LuaScript.CHANGE, "late");
        redis.answer(replyToAll(256, 1));
        assertThat(idsOf(redis.last())).as("before 'lone2', which came later").hasSize(44);
        redis.answer(replyToAll(44, 1));
        assertThat(idsOf(redis.last())).containsExactly("lone2", "late");
    }

    @Test
    void should_pass_over_no_more_than_1024_requests() {
        submit("first");
        submit(batcher, LuaScript.CHANGE, "near");
        for (int i = 0; i < 1_024; i++) {
            submit("m" + i);
        }
        submit(batcher, LuaScript.CHANGE, "far");
        redis.answer(reply(1, 0));
        assertThat(idsOf(redis.last())).containsExactly("near");
    }

    @Test
    void should_not_look_again_with_each_request_at_those_that_cannot_go() {
        RequestBatcher two = batcher(RequestKind.CHANGE, "client-0", "client-1");
        submit(two, LuaScript.SCHEDULE, "x");
        AtomicLong looks = new AtomicLong();
        for (int i = 0; i < 5_000; i++) {
            Request<String> request = new TestRequest(LuaScript.SCHEDULE, "x", 10, Long.MAX_VALUE, bytes("x")) {
                @Override
                protected String messageId() {
                    looks.incrementAndGet();
                    return super.messageId();
                }
            };
            two.submit(List.of(request), 0);
        }
        assertThat(redis.count()).isEqualTo(1);
        assertThat(looks).hasValueLessThan(40 * 5_000);
    }

    /**
     * Requests for three scripts over a few ids, whose calls are executed and answered whenever it happens, or get lost and are
     * sent again. {@code -Dseed=} replays one history.
     */
    @Test
    void should_execute_each_request_once_and_those_about_one_id_in_their_order() {
        Long given = Long.getLong("seed");
        long first = given != null ? given : RandomTests.seed("seed");
        int histories = given != null ? 1 : RandomTests.amount("batcher.histories", 300, 1_000);
        for (long seed = first; seed < first + histories; seed++) {
            try {
                randomMix(new Random(seed));
            } catch (Throwable e) {
                throw new AssertionError("with -Dseed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private void randomMix(Random random) {
        FakeCaller network = new FakeCaller();
        RequestBatcher two = batcher(RequestKind.CHANGE, network, "client-0", "client-1");
        List<LuaScript> scripts = List.of(LuaScript.SCHEDULE, LuaScript.CHANGE, LuaScript.REDRIVE);
        int ids = 1 + random.nextInt(random.nextBoolean() ? 5 : 100);
        int count = 200 + random.nextInt(400);
        Map<String, List<Integer>> executed = new HashMap<>();
        Set<Long> executedCalls = new HashSet<>();
        List<Submission<String>> submissions = new ArrayList<>();
        int answered = 0; // the first calls, all of which have their answers
        while (submissions.size() < count || !two.isIdle()) {
            int burst = submissions.size() < count ? random.nextInt(40) : 0;
            for (int i = 0; i < burst; i++) {
                String id = "m" + random.nextInt(ids);
                Request<String> request = new TestRequest(
                        scripts.get(random.nextInt(3)), id, 10, Long.MAX_VALUE, bytes(id + "/" + submissions.size()));
                two.submit(List.of(request), 0);
                submissions.add(request.submission());
                if (random.nextInt(50) == 0) {
                    request.submission().result().cancel(false);
                }
            }
            while (answered < network.count()
                    && network.sent.get(answered).answer().isDone()) {
                answered++;
            }
            List<FakeCaller.Sent> underWay = network.sent.subList(answered, network.count()).stream()
                    .filter(call -> !call.answer().isDone())
                    .toList();
            Set<String> sessions = new HashSet<>();
            underWay.forEach(call -> assertThat(sessions.add(call.argument(0)))
                    .as("one call of a session")
                    .isTrue());
            if (underWay.isEmpty()) {
                timers.advance(s(3)); // until what was lost is sent again
                continue;
            }
            FakeCaller.Sent call = underWay.get(random.nextInt(underWay.size()));
            boolean lost = random.nextInt(4) == 0;
            if ((!lost || random.nextBoolean()) && executedCalls.add(call.sequence())) {
                for (String item : idsOf(call)) {
                    int slash = item.indexOf('/');
                    executed.computeIfAbsent(item.substring(0, slash), id -> new ArrayList<>())
                            .add(Integer.valueOf(item.substring(slash + 1)));
                }
            }
            if (lost) {
                call.answer().completeExceptionally(new TimeoutException("no answer"));
            } else {
                call.answer().complete(replyToAll(idsOf(call).size(), 1));
            }
        }
        assertThat(executed.values()).allSatisfy(numbers -> assertThat(numbers).isSorted());
        List<Integer> all = executed.values().stream().flatMap(List::stream).toList();
        Set<Integer> once = new HashSet<>(all);
        assertThat(all).hasSameSizeAs(once);
        for (int i = 0; i < count; i++) {
            Submission<String> submission = submissions.get(i);
            assertThat(submission.outcome()).as("outcome of %d", i).isDone();
            assertThat(once.contains(i))
                    .as("whether %d was executed", i)
                    .isEqualTo(!submission.outcome().isCompletedExceptionally());
        }
    }

    @Test
    void should_tell_each_script_the_keys_that_it_takes_as_arguments() {
        RequestBatcher deliveries = batcher(RequestKind.DELIVERY);
        List<String> heads = new ArrayList<>();
        for (LuaScript script : List.of(LuaScript.SETTLE, LuaScript.ACKNOWLEDGE, LuaScript.CHANGE)) {
            submit(script == LuaScript.CHANGE ? batcher : deliveries, script, "a");
            List<String> arguments = new ArrayList<>();
            for (int i = 2; i < redis.last().arguments().size(); i++) {
                arguments.add(redis.last().argument(i));
            }
            heads.add(script + " " + arguments);
            redis.answer(reply(1, 0));
        }
        assertThat(heads)
                .containsExactly(
                        "SETTLE [redis-delay:{orders}, redis-delay:{orders}:dead, a]",
                        "ACKNOWLEDGE [a]",
                        "CHANGE [redis-delay:{orders}, a]");
    }

    @Test
    void should_repeat_an_unanswered_call_byte_for_byte_until_it_is_answered() {
        submit(batcher, LuaScript.SCHEDULE, "first");
        Submission<String> a = submit("a");
        Submission<String> b = submit("b");
        redis.answer(reply(1, 0));
        FakeCaller.Sent original = redis.last();
        for (int attempt = 2; attempt <= 12; attempt++) {
            int sent = redis.count();
            redis.fail(new TimeoutException("no answer " + attempt));
            assertThat(redis.count()).as("waits before it repeats").isEqualTo(sent);
            submit("later" + attempt);
            long base = Math.min(2_000, 50L << Math.min(attempt - 2, 10));
            advance(Duration.ofMillis(base * 3 / 4 - 1));
            assertThat(redis.count()).isEqualTo(sent);
            advance(Duration.ofMillis(base / 2 + 1));
            assertThat(redis.count()).isEqualTo(sent + 1);
            assertThat(redis.last().sameBytes(original)).as("the same bytes").isTrue();
            assertThat(redis.last().attempt()).isEqualTo(attempt);
        }
        redis.answer(reply(1, 1, 1, 2));
        assertThat(a.outcome()).isCompletedWithValue("a:1:1");
        assertThat(b.outcome()).isCompletedWithValue("b:1:2");
    }

    @Test
    void should_end_the_wait_of_a_sent_request_at_its_deadline_and_tell_the_outcome_later() {
        Submission<String> a = submit("a");
        advance(s(4));
        assertThat(a.result()).isNotDone();
        advance(s(1));
        assertThatThrownBy(a.result()::get)
                .cause()
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("'orders'")
                .hasMessageContaining("'a'")
                .hasMessageContaining("can safely be sent again")
                .satisfies(e -> assertThat(((RequestTimeoutException) e).isPossiblyStored())
                        .isTrue());
        assertThat(a.outcome()).isNotDone();
        redis.fail(new TimeoutException("no answer"));
        advance(s(3));
        assertThat(redis.count()).isEqualTo(2);
        redis.answer(reply(1, 5));
        assertThat(a.outcome()).isCompletedWithValue("a:1:5");
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_withdraw_a_request_that_was_not_sent_by_its_deadline() {
        submit("a");
        advance(s(1));
        Submission<String> b = submit("b");
        advance(s(4));
        assertThat(b.result()).isNotDone();
        advance(s(1));
        assertThatThrownBy(b.result()::get)
                .cause()
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("nothing was stored")
                .satisfies(e -> assertThat(((RequestTimeoutException) e).isPossiblyStored())
                        .isFalse());
        assertThat(b.outcome()).isCompletedExceptionally();
        redis.answer(reply(1, 0));
        assertThat(redis.count()).as("calls: the withdrawn one is never sent").isEqualTo(1);
        assertThat(batcher.isIdle()).isTrue();
    }

    @Test
    void should_name_the_last_error_when_it_gives_up_waiting() {
        Submission<String> a = submit("a");
        redis.fail(new RedisException("LOADING Redis is loading the dataset in memory"));
        advance(s(5));
        assertThatThrownBy(a.result()::get).cause().hasMessageContaining("LOADING");
    }

    @Test
    void should_end_each_wait_at_its_own_deadline() {
        List<Submission<String>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(submit("m" + i));
            advance(Duration.ofMillis(100));
        }
        advance(s(4));
        for (int i = 0; i < 10; i++) {
            assertThat(all.get(i).result()).isCompletedExceptionally();
            if (i < 9) {
                assertThat(all.get(i + 1).result()).isNotDone();
            }
            advance(Duration.ofMillis(100));
        }
        assertThat(timers.waiting()).as("nobody waits any more").isZero();
    }

    @Test
    void should_arm_the_deadline_again_after_all_waits_have_ended() {
        submit("a");
        advance(s(6));
        Submission<String> b = submit("b");
        advance(s(5));
        assertThat(b.result()).isCompletedExceptionally();
    }

    @Test
    void should_fail_a_refused_call_and_go_on_with_the_next() {
        Submission<String> a = submit("a");
        Submission<String> b = submit("b");
        redis.fail(new RedisException("ERR something is wrong"));
        assertThatThrownBy(a.result()::get)
                .cause()
                .isInstanceOf(DelayQueueException.class)
                .isNotInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("something is wrong");
        assertThat(a.outcome()).isCompletedExceptionally();
        assertThat(redis.count()).isEqualTo(2);
        redis.answer(reply(1, 0));
        assertThat(b.result()).isCompletedWithValue("b:1:0");
    }

    @Test
    void should_say_that_a_refused_repeat_may_have_been_stored() {
        Submission<String> a = submit("a");
        redis.fail(new TimeoutException("no answer"));
        advance(s(1));
        redis.fail(new RedisException("ERR something is wrong"));
        assertThatThrownBy(a.result()::get)
                .cause()
                .isInstanceOf(RequestTimeoutException.class)
                .satisfies(e -> assertThat(((RequestTimeoutException) e).isPossiblyStored())
                        .isTrue());
    }

    @Test
    void should_fail_the_requests_of_a_call_whose_answer_cannot_be_read_and_go_on() {
        Submission<String> a = submit("a");
        Submission<String> b = submit("b");
        redis.answer(new byte[3]);
        assertThat(a.result()).isCompletedExceptionally();
        redis.answer(reply(1, 0));
        assertThat(b.result()).isCompletedWithValue("b:1:0");
    }

    @Test
    void should_try_for_ever_what_finishes_deliveries() {
        RequestBatcher patient = batcher(RequestKind.DELIVERY);
        Request<String> request = request(LuaScript.SETTLE, "a", 10, Long.MAX_VALUE);
        patient.submit(List.of(request), 0);
        RuntimeException[] refusals = {
            new RedisException("NOPERM no"), new RedisException("ERR max number of clients reached"),
            new RedisException("MISCONF disk"), new RedisException("NOAUTH Authentication required.")
        };
        for (int i = 0; i < 2000; i++) {
            redis.fail(refusals[i % refusals.length]);
            advance(s(3));
            assertThat(redis.count()).isEqualTo(i + 2);
        }
        assertThat(request.submission().result()).isNotDone();
        redis.answer(reply(1, 0));
        assertThat(request.submission().result()).isCompletedWithValue("a:1:0");
    }

    @Test
    void should_not_repeat_what_can_never_work_even_where_it_is_patient() {
        RequestBatcher patient = batcher(RequestKind.DELIVERY);
        Submission<String> a = submit(patient, LuaScript.SETTLE, "a");
        Submission<String> b = submit(patient, LuaScript.SETTLE, "b");
        redis.fail(new RedisException("WRONGTYPE Operation against a key holding the wrong kind of value"));
        assertThat(a.result()).isCompletedExceptionally();
        redis.fail(new RedisException("ERR user_script: REDISDELAY needs: groups=0.2"));
        assertThat(b.result()).isCompletedExceptionally();
        assertThat(patient.isIdle()).isTrue();
    }

    @Test
    void should_fail_at_once_when_the_redis_client_was_shut_down() {
        Submission<String> a = submit(batcher(RequestKind.DELIVERY), LuaScript.SETTLE, "a");
        redis.fail(new RedissonShutdownException("Redisson is shutdown"));
        assertThatThrownBy(a.result()::get).cause().hasMessageContaining("was shut down");
    }

    @Test
    void should_leave_out_requests_that_were_cancelled_before_they_were_sent() {
        submit("first");
        Submission<String> a = submit("a");
        Submission<String> b = submit("b");
        Submission<String> c = submit("c");
        a.result().cancel(false);
        c.result().cancel(false);
        redis.answer(reply(1, 0));
        assertThat(idsOf(redis.last())).containsExactly("b");
        redis.answer(reply(1, 0));
        assertThat(b.result()).isCompletedWithValue("b:1:0");
        assertThat(batcher.isIdle()).isTrue();
        assertThat(a.outcome()).as("the outcome of a withdrawn request").isCompletedExceptionally();
        assertThat(c.outcome()).as("the outcome of a withdrawn request").isCompletedExceptionally();
    }

    @Test
    void should_send_nothing_when_all_that_wait_were_cancelled() {
        submit("first");
        for (int i = 0; i < 300; i++) {
            submit("m" + i).result().cancel(false);
        }
        redis.answer(reply(1, 0));
        assertThat(redis.count()).isEqualTo(1);
        assertThat(batcher.isIdle()).isTrue();
        timers.advance(s(5));
        assertThat(timers.waiting()).isZero();
    }

    private void fill() {
        submit("first");
        for (int i = 0; i < RequestBatcher.MAX_WAITING_REQUESTS; i++) {
            batcher.submit(List.of(request(LuaScript.SCHEDULE, "m" + i, 10, timers.nanoTime() + s(3600).toNanos())), 0);
        }
    }

    private Thread submitInThread(Request<String> request, AtomicBoolean interrupted) {
        Thread thread = new Thread(() -> {
            batcher.submit(List.of(request), 0);
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return thread;
    }

    @Test
    void should_hold_up_a_caller_while_too_many_wait_and_let_it_go_on_when_there_is_room() throws Exception {
        fill();
        Request<String> request = request(LuaScript.SCHEDULE, "held", 10, timers.nanoTime() + s(3600).toNanos());
        Thread thread = submitInThread(request, new AtomicBoolean());
        redis.answer(reply(1, 0));
        thread.join();
        while (!batcher.isIdle()) {
            redis.answer(replyToAll(idsOf(redis.last()).size(), 1));
        }
        assertThat(request.submission().result().get()).startsWith("held:1:");
    }

    @Test
    void should_not_hold_up_the_thread_that_tells_of_a_cancelled_request() {
        long deadline = timers.nanoTime() + s(3600).toNanos();
        submit("first");
        Request<String> cancelled = request(LuaScript.SCHEDULE, "cancelled", 10, deadline);
        batcher.submit(List.of(cancelled), 0);
        for (int i = 0; i < RequestBatcher.MAX_WAITING_REQUESTS - 1; i++) {
            batcher.submit(List.of(request(LuaScript.SCHEDULE, "m" + i, 10, deadline)), 0);
        }
        cancelled.submission().result().cancel(false);
        int[] sent = new int[1];
        // More than the call that left it out has made space for.
        cancelled.submission().outcome().whenComplete((none, error) -> {
            while (sent[0] < 300) {
                batcher.submit(List.of(request(LuaScript.SCHEDULE, "n" + sent[0]++, 10, deadline)), 0);
            }
        });
        redis.answer(reply(1, 0));
        assertThat(sent[0]).isEqualTo(300);
    }

    /** Refuses a request, and has another thread use the batcher before its caller has been told. */
    private CompletableFuture<Boolean> isIdleAsItIsRefused(Request<String> request) {
        CompletableFuture<Boolean> idle = request.submission()
                .outcome()
                .handle((none, error) -> CompletableFuture.supplyAsync(batcher::isIdle)
                        .orTimeout(5, TimeUnit.SECONDS)
                        .join());
        batcher.submit(List.of(request), 0);
        return idle;
    }

    @Test
    void should_refuse_a_request_without_holding_up_other_threads() {
        fill();
        assertThat(isIdleAsItIsRefused(request(LuaScript.SCHEDULE, "late", 10, timers.nanoTime())))
                .as("for want of space")
                .isCompletedWithValue(false);
        batcher.close(new DelayQueueException("closed"));
        assertThat(isIdleAsItIsRefused(request(LuaScript.SCHEDULE, "later", 10, timers.nanoTime() + WAIT)))
                .as("as it is closed")
                .isCompletedWithValue(true);
    }

    @Test
    void should_fail_a_caller_that_was_held_up_until_its_deadline() throws Exception {
        fill();
        Request<String> request = request(
                LuaScript.SCHEDULE,
                "held",
                10,
                timers.nanoTime() + Duration.ofMillis(50).toNanos());
        Thread thread = submitInThread(request, new AtomicBoolean());
        timers.jump(Duration.ofMillis(50));
        thread.join();
        assertThatThrownBy(request.submission().result()::get)
                .cause()
                .isInstanceOf(RequestTimeoutException.class)
                .hasMessageContaining("16384 requests")
                .hasMessageContaining("nothing was stored")
                .satisfies(e -> assertThat(((RequestTimeoutException) e).isPossiblyStored())
                        .isFalse());
    }

    @Test
    void should_fail_a_caller_that_is_interrupted_while_it_is_held_up_and_keep_the_interrupt() throws Exception {
        fill();
        Request<String> request = request(LuaScript.SCHEDULE, "held", 10, timers.nanoTime() + s(3600).toNanos());
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread thread = submitInThread(request, interrupted);
        thread.interrupt();
        thread.join();
        assertThat(request.submission().result()).isCompletedExceptionally();
        assertThat(interrupted).isTrue();
    }

    @Test
    void should_hold_up_a_caller_by_bytes_but_never_a_lone_request() throws Exception {
        submit("first");
        batcher.submit(
                List.of(request(LuaScript.SCHEDULE, "huge", 100 << 20, timers.nanoTime() + s(3600).toNanos())), 0);
        Request<String> request = request(LuaScript.SCHEDULE, "held", 10, timers.nanoTime() + s(3600).toNanos());
        Thread thread = submitInThread(request, new AtomicBoolean());
        redis.answer(reply(1, 0));
        thread.join();
        redis.answer(reply(1, 0));
        redis.answer(reply(1, 0));
        assertThat(request.submission().result()).isCompletedWithValue("held:1:0");
    }

    @Test
    void should_fail_a_caller_that_is_held_up_when_it_is_closed() throws Exception {
        fill();
        Request<String> request = request(LuaScript.SCHEDULE, "held", 10, timers.nanoTime() + s(3600).toNanos());
        Thread thread = submitInThread(request, new AtomicBoolean());
        batcher.close(new DelayQueueException("closed"));
        thread.join();
        assertThatThrownBy(request.submission().result()::get).cause().hasMessage("closed");
    }

    @Test
    void should_fail_everything_when_it_is_closed() {
        Submission<String> sent = submit("sent");
        Submission<String> waiting = submit("waiting");
        batcher.close(new DelayQueueException("closed"));
        Submission<String> late = submit("late");
        for (Submission<String> each : List.of(sent, waiting, late)) {
            assertThatThrownBy(each.result()::get).cause().hasMessage("closed");
            assertThat(each.outcome()).isCompletedExceptionally();
        }
        assertThat(timers.waiting()).isZero();
        redis.answer(reply(1, 0));
        assertThat(redis.count()).isEqualTo(1);
    }

    @Test
    void should_not_repeat_a_call_after_it_was_closed() {
        timers.ignoreCancellation();
        submit("a");
        redis.fail(new TimeoutException("no answer"));
        batcher.close(new DelayQueueException("closed"));
        advance(s(100));
        assertThat(redis.count()).isEqualTo(1);
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_ignore_an_answer_that_fails_after_it_was_closed() {
        submit("a");
        FakeCaller.Sent call = redis.last();
        batcher.close(new DelayQueueException("closed"));
        call.answer().completeExceptionally(new TimeoutException("no answer"));
        advance(s(100));
        assertThat(redis.count()).isEqualTo(1);
        assertThat(timers.waiting()).isZero();
    }

    @Test
    void should_retire_only_when_it_has_nothing_to_do_and_leave_later_requests_to_its_successor() {
        submit("a");
        assertThat(batcher.retireIfIdle()).isFalse();
        redis.answer(reply(1, 0));
        assertThat(batcher.retireIfIdle()).isTrue();
        Request<String> late = request(LuaScript.SCHEDULE, "late", 10, timers.nanoTime() + WAIT);
        assertThat(batcher.submit(List.of(late), 0)).isZero();
        long used = redis.last().sequence();
        RequestBatcher successor = batcher(RequestKind.CHANGE);
        assertThat(successor.submit(List.of(late), 0)).isEqualTo(1);
        assertThat(redis.last().sequence()).isGreaterThan(used);
        redis.answer(reply(1, 0));
        assertThat(late.submission().result()).isCompletedWithValue("late:1:0");
    }

    @Test
    void should_need_one_timer_for_any_number_of_waiting_requests() {
        for (int i = 0; i < 5_000; i++) {
            submit("m" + i);
        }
        assertThat(timers.waiting()).isEqualTo(1);
        while (!batcher.isIdle()) {
            redis.answer(replyToAll(idsOf(redis.last()).size(), 1));
        }
        timers.advance(s(5));
        assertThat(timers.waiting()).isZero();
        assertThat(timers.scheduled()).isLessThan(25);
    }

    @Test
    void should_answer_each_of_many_threads_with_its_own_result() throws Exception {
        // Answers from other threads, one call at a time, as Redis does.
        ScriptExecutor echo = (script, keys, arguments, attempt) ->
                CompletableFuture.supplyAsync(() -> replyToAll(arguments.length - HEAD, 1));
        AtomicLong underWay = new AtomicLong();
        AtomicLong most = new AtomicLong();
        ScriptExecutor counting = (script, keys, arguments, attempt) -> {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            return echo.call(script, keys, arguments, attempt)
                    .whenComplete((reply, error) -> underWay.decrementAndGet());
        };
        RequestBatcher shared = batcher(RequestKind.CHANGE, counting, "client-session");
        List<Thread> threads = new ArrayList<>();
        AtomicLong right = new AtomicLong();
        for (int t = 0; t < 8; t++) {
            int number = t;
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 500; i++) {
                    Request<String> request = request(LuaScript.SCHEDULE, number + "-" + i, 10, Long.MAX_VALUE);
                    shared.submit(List.of(request), 0);
                    if (request.submission()
                            .result()
                            .orTimeout(30, TimeUnit.SECONDS)
                            .join()
                            .startsWith(number + "-" + i + ":1:")) {
                        right.incrementAndGet();
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(right).hasValue(4_000);
        assertThat(most).as("calls under way at a time").hasValue(1);
    }
}
