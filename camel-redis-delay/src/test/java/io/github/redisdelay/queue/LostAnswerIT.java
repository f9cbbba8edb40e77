// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.queue.model.RandomHistory;
import io.github.redisdelay.queue.model.RandomHistory.Groups;
import io.github.redisdelay.queue.model.SimulatedNetwork;
import io.github.redisdelay.queue.model.Swarm;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.RandomTests;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.client.RedisTimeoutException;

/** One effect for each request, however often it is sent (I6): answers get lost, copies arrive late, calls are repeated. */
class LostAnswerIT {

    /** Each state is reached in one of 15 histories or more: all but one test of a million reaches it. */
    private static final int MORE = 300;

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    /** The fate of a sending. */
    private enum Fate {
        /** It is executed and answered. */
        ANSWERED,
        /** It never arrives. */
        LOST,
        /** It is executed, its answer never arrives. */
        ANSWER_LOST,
        /** It is executed twice, the second answer arrives. */
        TWICE,
        /** It is executed when the test says so, its answer is not waited for. */
        LATE
    }

    /** Sendings on their way to Redis, with a fate for each. */
    private static final class UnreliableCaller implements ScriptExecutor {
        final ScriptExecutor redis = new PatientCaller(LostAnswerIT.redis.client());
        final Queue<Fate> fates = new ConcurrentLinkedQueue<>();
        final Queue<Sending> sendings = new ConcurrentLinkedQueue<>();
        /** Done after a call of an unlucky fate and before its repeat. */
        volatile Runnable meanwhile = () -> {};

        private record Sending(LuaScript script, List<Object> keys, Object[] arguments) {}

        @Override
        public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
            if (script == LuaScript.REGISTER) {
                return redis.call(script, keys, arguments, attempt); // of no queue, and nothing depends on it
            }
            Sending sending = new Sending(script, keys, arguments.clone());
            sendings.add(sending);
            Fate fate = fates.isEmpty() ? Fate.ANSWERED : fates.poll();
            CompletableFuture<Object> lost =
                    CompletableFuture.failedFuture(new RedisTimeoutException("no answer in time"));
            return switch (fate) {
                case ANSWERED -> redis.call(script, keys, arguments, attempt);
                case LOST, LATE -> lost.whenComplete((reply, error) -> meanwhile.run());
                case ANSWER_LOST ->
                    redis.call(script, keys, arguments, attempt)
                            .thenRunAsync(() -> meanwhile.run())
                            .thenCompose(none -> lost);
                case TWICE ->
                    redis.call(script, keys, arguments, attempt)
                            .thenCompose(reply -> redis.call(script, keys, arguments, attempt));
            };
        }

        /** A copy of a sending arrives, again or at last. */
        CompletableFuture<Object> arrivesLate(int sending) {
            Sending copy = new ArrayList<>(sendings).get(sending);
            return redis.call(copy.script, copy.keys, copy.arguments, 1);
        }
    }

    private final UnreliableCaller caller = new UnreliableCaller();
    private DelayQueueClient client;
    private DelayQueueClient other;
    private RedisDelayQueue queue;
    private RedisDelayQueue otherQueue;
    private ClaimCalls otherClaims;

    @BeforeEach
    void open() {
        client = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, caller);
        other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        String name = redis.uniqueQueue();
        queue = (RedisDelayQueue) client.queue(name);
        otherQueue = (RedisDelayQueue) other.queue(name);
        otherClaims = ClientAccess.consumers(other)
                .newClaims(otherQueue.partitions().get(0).address(), error -> {});
    }

    @AfterEach
    void close() {
        otherClaims.close();
        client.close();
        other.close();
    }

    private void fates(Fate... fates) {
        caller.fates.addAll(List.of(fates));
    }

    private QueueSnapshot held() {
        return QueueSnapshot.read(
                redis.client(), queue.partitions().get(0).address().keys());
    }

    private static <T> T get(Submission<T> sent) {
        return get(sent.result());
    }

    private static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static ScheduleRequest message(String id, String body) {
        return ScheduleRequest.of(id, body.getBytes(StandardCharsets.UTF_8), DueTime.now());
    }

    private static ClaimedDelivery claim(DelayQueueClient client, RedisDelayQueue queue, ClaimCalls claims) {
        ClaimRequest request =
                new ClaimRequest(FakeHost.randomClaimId(), 60_000_000, 1, 1, false, 1, ClaimRequest.NO_BATCH);
        ClaimReply reply = get(claims.claim(request, new CompletableFuture<>()));
        assertThat(reply.messages()).as("claimed messages").hasSize(1);
        return new ClaimedDelivery(
                queue.partitions().get(0),
                reply.messages().get(0),
                request.claimId(),
                reply.timeMicros(),
                0,
                0,
                new FakeTimers(),
                (d, worked) -> {});
    }

    private ClaimedDelivery claimed(String id, String body) {
        get(otherQueue.schedule(message(id, body)));
        return claim(other, queue, otherClaims);
    }

    @Test
    void should_store_a_message_once_after_lost_answers() {
        fates(Fate.ANSWER_LOST, Fate.LOST, Fate.ANSWER_LOST, Fate.TWICE);
        ScheduleResult result = get(queue.schedule(message("a", "x")));
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(caller.sendings).hasSize(4);
        assertThat(held().messages())
                .isEqualTo(java.util.Map.of(
                        "a", QueueSnapshot.message(result.scheduledMicros(), result.dueMicros(), "x")));
        assertThat(held().keys().get("delayed")).containsEntry("a", String.valueOf(result.dueMicros()));
    }

    @Test
    void should_not_store_a_second_message_when_the_first_was_delivered_and_finished_before_the_repeat() {
        fates(Fate.ANSWER_LOST);
        caller.meanwhile =
                () -> assertThat(get(claim(other, otherQueue, otherClaims).settle(Settlement.ACKNOWLEDGE)))
                        .isEqualTo(SettleResult.DONE);
        ScheduleResult result = get(queue.schedule(message("a", "x")));
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(held().messages()).isEmpty();
        assertThat(held().keys().get("delayed")).isEmpty();
    }

    @Test
    void should_leave_the_message_of_another_producer_alone_when_the_repeat_arrives() {
        fates(Fate.ANSWER_LOST);
        caller.meanwhile = () -> {
            get(claim(other, otherQueue, otherClaims).settle(Settlement.ACKNOWLEDGE));
            get(otherQueue.schedule(message("a", "of another")));
        };
        ScheduleResult result =
                get(queue.schedule(ScheduleRequest.of("a", "x".getBytes(StandardCharsets.UTF_8), DueTime.now())
                        .withOnDuplicate(DuplicatePolicy.REPLACE)));
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(held().messages().get("a")).endsWith("of another");
    }

    @Test
    void should_tell_a_duplicate_when_another_producer_was_first_and_no_copy_had_arrived() {
        fates(Fate.LOST);
        caller.meanwhile = () -> get(otherQueue.schedule(message("a", "of another")));
        assertThatThrownBy(() -> queue.schedule(message("a", "x")).result().get(10, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(DuplicateMessageException.class);
        assertThat(held().messages().get("a")).endsWith("of another");
    }

    @Test
    void should_refuse_a_late_copy_after_later_calls_of_its_lane() {
        fates(Fate.LATE);
        get(queue.schedule(message("a", "x")));
        get(claim(other, otherQueue, otherClaims).settle(Settlement.ACKNOWLEDGE));
        get(queue.schedule(message("a", "y")));
        QueueSnapshot before = held();

        assertThatThrownBy(() -> caller.arrivesLate(0).get())
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("REDISDELAY superseded");
        assertThat(held()).isEqualTo(before);
    }

    @Test
    void should_answer_a_late_copy_of_the_last_call_as_the_call_was_answered_and_change_nothing() {
        get(queue.schedule(message("a", "x")));
        get(claim(other, otherQueue, otherClaims).settle(Settlement.ACKNOWLEDGE));
        QueueSnapshot before = held();

        byte[] first = (byte[]) get(caller.arrivesLate(0));
        assertThat((byte[]) get(caller.arrivesLate(0))).isEqualTo(first);
        assertThat(held()).isEqualTo(before);
    }

    @Test
    void should_give_the_same_messages_when_the_answer_to_a_claim_was_lost() {
        for (int i = 0; i < 5; i++) {
            get(otherQueue.schedule(message("m" + i, "x")));
        }
        ClaimCalls claims = ClientAccess.consumers(client)
                .newClaims(queue.partitions().get(0).address(), error -> {});
        fates(Fate.ANSWER_LOST, Fate.LOST, Fate.TWICE);
        ClaimReply reply = get(claims.claim(
                new ClaimRequest(FakeHost.randomClaimId(), 60_000_000, 3, 3, false, 1, ClaimRequest.NO_BATCH),
                new CompletableFuture<>()));
        assertThat(reply.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("m0", "m1", "m2");
        assertThat(reply.messages())
                .extracting(ClaimReply.ClaimedMessage::attempt)
                .containsOnly(1);
        assertThat(held().keys().get("leased").keySet()).containsExactly("m0", "m1", "m2");
        assertThat(get(claims.claim(
                                new ClaimRequest(
                                        FakeHost.randomClaimId(), 60_000_000, 3, 3, false, 1, ClaimRequest.NO_BATCH),
                                new CompletableFuture<>()))
                        .messages())
                .extracting(ClaimReply.ClaimedMessage::id)
                .containsExactly("m3", "m4");
    }

    @Test
    void should_not_give_what_was_cancelled_before_the_claim_was_repeated() {
        get(otherQueue.schedule(message("a", "x")));
        get(otherQueue.schedule(message("b", "x")));
        ClaimCalls claims = ClientAccess.consumers(client)
                .newClaims(queue.partitions().get(0).address(), error -> {});
        fates(Fate.ANSWER_LOST);
        caller.meanwhile =
                () -> assertThat(get(otherQueue.cancel("a")).previousState()).isEqualTo(MessageState.LEASED);
        ClaimReply reply = get(claims.claim(
                new ClaimRequest(FakeHost.randomClaimId(), 60_000_000, 3, 3, false, 1, ClaimRequest.NO_BATCH),
                new CompletableFuture<>()));
        assertThat(reply.messages()).extracting(ClaimReply.ClaimedMessage::id).containsExactly("b");
    }

    @Test
    void should_not_give_what_another_consumer_claimed_before_the_claim_was_repeated() {
        get(otherQueue.schedule(message("a", "x")));
        ClaimCalls claims = ClientAccess.consumers(client)
                .newClaims(queue.partitions().get(0).address(), error -> {});
        fates(Fate.ANSWER_LOST);
        caller.meanwhile = () -> {
            QueueSnapshot.shift(
                    redis.client(), queue.partitions().get(0).address().keys(), 120_000_000);
            claim(other, otherQueue, otherClaims);
        };
        ClaimReply reply = get(claims.claim(
                new ClaimRequest(FakeHost.randomClaimId(), 60_000_000, 3, 3, false, 1, ClaimRequest.NO_BATCH),
                new CompletableFuture<>()));
        assertThat(reply.messages()).isEmpty();
        assertThat(held().keys().get("state").get("a")).startsWith("attempts 2 ");
    }

    /** Does something whose answers get lost, while others act on the same id in between. */
    private <T> T hostile(BiFunction<RedisDelayQueue, ClaimedDelivery, Submission<T>> action, Runnable meanwhile) {
        ClaimedDelivery delivery = claimed("a", "x");
        fates(Fate.LOST, Fate.ANSWER_LOST, Fate.ANSWER_LOST, Fate.TWICE);
        // After the first execution, once.
        Queue<Runnable> once = new ArrayDeque<>(List.of(() -> {}, meanwhile));
        caller.meanwhile = () -> {
            Runnable next = once.poll();
            if (next != null) {
                next.run();
            }
        };
        return get(action.apply(queue, delivery));
    }

    private void scheduleAgain() {
        get(otherQueue.schedule(message("a", "second")));
    }

    @Test
    void should_acknowledge_once() {
        SettleResult settlement = hostile(
                (q, delivery) -> q.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE), this::scheduleAgain);
        assertThat(settlement).isEqualTo(SettleResult.DONE);
        assertThat(held().messages().get("a")).endsWith("second");
    }

    @Test
    void should_retry_a_message_once() {
        SettleResult settlement = hostile(
                (q, delivery) ->
                        q.partitions().get(0).settle(delivery, new Settlement.Retry(Duration.ZERO, new byte[] {'f'})),
                () -> {
                    assertThat(claim(other, otherQueue, otherClaims).attempt()).isEqualTo(2);
                });
        assertThat(settlement).isEqualTo(SettleResult.DONE);
        assertThat(held().keys().get("leased").keySet()).containsExactly("a");
        assertThat(held().keys().get("delayed")).isEmpty();
    }

    @Test
    void should_release_once() {
        SettleResult settlement =
                hostile((q, delivery) -> q.partitions().get(0).settle(delivery, Settlement.RELEASE), () -> {
                    assertThat(claim(other, otherQueue, otherClaims).attempt()).isEqualTo(1);
                });
        assertThat(settlement).isEqualTo(SettleResult.DONE);
        assertThat(held().keys().get("leased").keySet()).containsExactly("a");
    }

    @Test
    void should_dead_letter_once() {
        SettleResult settlement = hostile(
                (q, delivery) -> q.partitions().get(0).settle(delivery, new Settlement.DeadLetter(new byte[0])),
                this::scheduleAgain);
        assertThat(settlement).isEqualTo(SettleResult.DONE);
        assertThat(held().keys().get("dead:messages")).hasSize(1);
        assertThat(held().messages().get("a")).endsWith("second");
    }

    @Test
    void should_cancel_once_and_tell_the_state_that_the_first_copy_found() {
        ChangeResult result = hostile((q, delivery) -> q.cancel("a"), this::scheduleAgain);
        assertThat(result.previousState()).isEqualTo(MessageState.LEASED);
        assertThat(held().messages().get("a")).endsWith("second");
    }

    @Test
    void should_reschedule_once() {
        long due = 1_000_000;
        get(otherQueue.schedule(ScheduleRequest.of("w", new byte[] {1}, DueTime.after(Duration.ofHours(1)))));
        ChangeResult result = hostile(
                (q, delivery) -> q.reschedule("w", DueTime.now()),
                () -> get(otherQueue.reschedule("w", new DueTime(false, due))));
        assertThat(result.previousState()).isEqualTo(MessageState.DELAYED);
        assertThat(held().keys().get("delayed")).containsEntry("w", String.valueOf(due));
    }

    @Test
    void should_extend_once() {
        SettleResult settlement =
                hostile((q, delivery) -> q.partitions().get(0).extend(delivery, 3_600_000_000L), () -> {
                    QueueSnapshot.shift(
                            redis.client(), queue.partitions().get(0).address().keys(), 7_200_000_000L);
                });
        assertThat(settlement).isEqualTo(SettleResult.DONE);
        assertThat(claim(other, otherQueue, otherClaims).attempt()).isEqualTo(2);
    }

    @Test
    void should_supersede_once() {
        ScheduleResult result = hostile(
                (q, delivery) -> q.schedule(
                        ScheduleRequest.of("a", new byte[] {'n'}, DueTime.now()).superseding(delivery.claimId())),
                () -> get(claim(other, otherQueue, otherClaims).settle(Settlement.ACKNOWLEDGE)));
        assertThat(result.outcome()).isEqualTo(ScheduleOutcome.SUPERSEDED);
        assertThat(held().messages()).isEmpty();
    }

    @Test
    void should_know_the_outcome_after_the_caller_has_given_up() throws Exception {
        DelayQueueClient impatient = ClientAccess.create(
                redis.client(), ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofMillis(100)), caller);
        try {
            fates(Fate.ANSWER_LOST, Fate.LOST, Fate.LOST, Fate.LOST);
            Submission<ScheduleResult> submission =
                    impatient.queue(queue.name()).schedule(message("a", "x"));
            Submission<ScheduleResult> behind = impatient.queue(queue.name()).schedule(message("a", "y"));
            assertThatThrownBy(() -> submission.result().get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(RequestTimeoutException.class, e -> assertThat(e.isPossiblyStored())
                            .isTrue())
                    .hasMessageContaining("'a' may be stored: the same id can safely be sent again");
            assertThatThrownBy(() -> behind.result().get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(RequestTimeoutException.class, e -> assertThat(e.isPossiblyStored())
                            .isFalse())
                    .hasMessageContaining("was not sent");
            assertThat(get(submission.outcome()).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
            assertThat(held().messages().get("a")).endsWith("body x");
        } finally {
            impatient.close();
        }
    }

    /**
     * Histories of a few clients over two ids, on a network that loses, repeats and holds up what it likes. After each
     * execution Redis is compared with the model, which knows nothing of repeats; see {@link SimulatedNetwork}.
     *
     * <p>{@code -Dseed=} replays one history, {@code -Dhostile.seconds=} says for how long.
     */
    @Test
    void should_have_one_effect_for_each_request_in_hostile_histories() {
        int seconds = RandomTests.amount("hostile.seconds", 3, 8);
        RareStates.reachAll(Where.HOSTILE_NETWORK, "seed", seconds, MORE, LostAnswerIT::hostileHistory);
    }

    private static void hostileHistory(long seed, RareStates reached) {
        RandomHistory history =
                new RandomHistory(redis.client(), redis.uniqueQueue(), seed, 2, 2, Groups.SOMETIMES, reached);
        SimulatedNetwork network = history.network;
        Random random = history.random;
        PacketFates fates = new PacketFates(random);
        int operations = 4 + random.nextInt(random.nextBoolean() ? 12 : 60);
        while (operations > 0 || !network.packets.isEmpty()) {
            int what = random.nextInt(10);
            if (operations > 0 && (what < 3 || network.packets.isEmpty())) {
                history.doSomething();
                operations--;
            } else if (what == 3) {
                network.timers.runNext();
            } else if (what == 4 && random.nextBoolean()) {
                history.letTimePass();
            } else if (!network.packets.isEmpty()) {
                boolean unlucky = operations > 0 || random.nextInt(3) == 0;
                fates.meet(network, network.packets.get(random.nextInt(network.packets.size())), unlucky);
            }
            if (operations == 0 && random.nextInt(10) == 0) {
                break;
            }
        }
        boolean onlyOne = random.nextBoolean();
        if (onlyOne) {
            network.heal(0, random);
        }
        // All that waits to be repeated is sent again and answered: of all clients, or of the only one that was healed.
        do {
            network.deliverAll();
        } while (network.timers.runNext() || !network.packets.isEmpty());

        assertThat(history.requests).allSatisfy(request -> {
            CompletableFuture<?> outcome = request.submission().outcome();
            boolean healed = !onlyOne || request.client() == 0;
            assertThat(outcome.isDone() || !healed).isTrue();
            if (request.body() == null) {
                return;
            }
            int executions = network.executedBodies.getOrDefault(request.body(), 0);
            String what = "executions of the request to store " + request.body();
            if (!outcome.isDone()) {
                assertThat(executions).as(what).isLessThanOrEqualTo(1);
                return;
            }
            Throwable error = outcome.handle((value, failure) -> failure).join();
            boolean withdrawn = error instanceof RequestTimeoutException;
            if (withdrawn) {
                assertThat(((RequestTimeoutException) error).isPossiblyStored()).isFalse();
            }
            assertThat(executions).as(what + ", " + error).isEqualTo(withdrawn ? 0 : 1);
        });
        history.drain();
        network.delete();
    }

    /** What becomes of the sendings of one history: how often each fate comes is drawn for it. */
    private static final class PacketFates {

        /** How often of eight times, if all are as usual. */
        private enum PacketFate {
            ARRIVES(2),
            /** It is executed, and answered later or never. */
            ANSWER_WAITS(2),
            LOST(1),
            /** Its sender repeats it before it arrives. */
            LATE(1),
            /** It arrives once more, later. */
            TWICE(1),
            /** It is lost, but for a copy that arrives behind others. */
            OVERTAKEN(1);

            final int usual;

            PacketFate(int usual) {
                this.usual = usual;
            }
        }

        private final Random random;
        private final Swarm<PacketFate> fates;
        private final double answersLost;

        PacketFates(Random random) {
            this.random = random;
            this.fates = Swarm.around(random, PacketFate.class, fate -> fate.usual);
            this.answersLost = random.nextInt(3) == 0 ? 0 : random.nextDouble();
        }

        void meet(SimulatedNetwork network, SimulatedNetwork.Packet packet, boolean unlucky) {
            if (packet.executed) {
                network.packets.remove(packet);
                if (unlucky && random.nextDouble() < answersLost) {
                    network.timeOut(packet);
                } else {
                    network.answer(packet);
                }
                return;
            }
            // Without this, a history of nothing but losses has no end.
            boolean arrives = !unlucky || random.nextInt(4) == 0;
            switch (arrives ? PacketFate.ARRIVES : fates.any(PacketFate.ARRIVES)) {
                case ARRIVES -> {
                    network.packets.remove(packet);
                    network.execute(packet);
                    network.answer(packet);
                }
                case ANSWER_WAITS -> {
                    network.execute(packet);
                    if (packet.answer == null) {
                        network.packets.remove(packet);
                    }
                }
                case LOST -> {
                    network.packets.remove(packet);
                    network.timeOut(packet);
                }
                case LATE -> network.timeOut(packet);
                case TWICE -> {
                    network.packets.remove(packet);
                    network.execute(packet);
                    network.packets.add(packet.copy());
                    network.answer(packet);
                }
                case OVERTAKEN -> {
                    network.packets.add(packet.copy());
                    network.packets.remove(packet);
                    network.timeOut(packet);
                }
            }
        }
    }
}
