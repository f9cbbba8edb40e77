// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisTimeoutException;

/**
 * Many threads ask for all kinds of things at once, in shared calls over a connection that loses and repeats them. Each
 * request has one effect, those about one message keep their order, and an error is of its own item: so each thread knows
 * what becomes of its messages, and what each of its requests is answered.
 *
 * <p>{@code -Dseed=} replays the requests of each thread; how calls mix is left to chance.
 */
class MixedCallsIT extends RealQueueIT {

    private static final int THREADS = 8;
    private static final int MESSAGES = 12;
    private static final DueTime FAR = new DueTime(true, DueTime.MAX_MICROS);

    /** Loses one call in ten, as many answers, and sends as many twice; copies arrive late. */
    private static final class UnreliableCaller implements ScriptExecutor {
        final ScriptExecutor redis = new PatientCaller(MixedCallsIT.redis.client());
        final Queue<Runnable> late = new ConcurrentLinkedQueue<>();
        final Random random;
        final AtomicInteger unlucky = new AtomicInteger();
        final AtomicInteger mixed = new AtomicInteger();

        UnreliableCaller(long seed) {
            this.random = new Random(seed);
        }

        @Override
        public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
            int fate = Set.of("schedule", "change", "settle", "acknowledge", "redrive")
                            .contains(script.command())
                    ? random.nextInt(10)
                    : 9;
            Set<String> actions = new HashSet<>();
            int width = script == LuaScript.CHANGE ? 3 : 5;
            for (int i = width + 1; i < arguments.length && (width == 3 || script == LuaScript.SETTLE); i += width) {
                actions.add(text((byte[]) arguments[i]));
            }
            mixed.addAndGet(actions.size() > 1 ? 1 : 0);
            unlucky.addAndGet(fate < 3 ? 1 : 0);
            Runnable copy = fate == 9 ? null : late.poll();
            if (copy != null) {
                copy.run();
            }
            Object[] sent = arguments.clone();
            if (fate == 0) {
                late.add(() -> redis.call(script, keys, sent, 1));
                return CompletableFuture.failedFuture(new RedisTimeoutException("not sent in time"));
            }
            CompletableFuture<Object> first = redis.call(script, keys, arguments, attempt);
            return switch (fate) {
                case 1 ->
                    first.thenCompose(
                            reply -> CompletableFuture.failedFuture(new RedisTimeoutException("no answer in time")));
                case 2 -> first.thenCompose(reply -> redis.call(script, keys, sent, attempt));
                default -> first;
            };
        }
    }

    /** A message, as the thread that owns it knows it. */
    private static final class Owned {
        final String id;
        final ClaimedDelivery delivery;
        MessageState state;
        String body;
        /** The body of its dead letter, or null. */
        String letter;

        /** The requests that may have no answer, of this kind. */
        boolean settles;

        final List<CompletableFuture<?>> asked = new ArrayList<>();

        Owned(String id, ClaimedDelivery delivery) {
            this.id = id;
            this.delivery = delivery;
            this.state = delivery == null ? null : MessageState.LEASED;
            this.body = delivery == null ? null : text(delivery.body());
        }

        private void leave() {
            state = null;
        }
    }

    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final long seed = RandomTests.seed("seed");
    private RedisDelayQueue mixed;
    private Partition partition;

    /** A request, and what it must be answered: a word for the outcome, or for the error. */
    private <T> void ask(Owned message, String what, Submission<T> sent, String expected) {
        String stood = message.state + " " + message.letter;
        message.asked.add(sent.outcome().handle((value, error) -> {
            String found = error != null ? error.getClass().getSimpleName() : word(value);
            if (!found.equals(expected)) {
                wrong.add(what + " of " + message.id + ", which was " + stood + ": " + found + " and not " + expected
                        + (error == null ? "" : ", " + error.getMessage()));
            }
            return null;
        }));
    }

    private static String word(Object value) {
        return value instanceof ScheduleResult scheduled
                ? scheduled.outcome().toString()
                : value instanceof ChangeResult changed ? state(changed.previousState()) : value.toString();
    }

    /** The queue's own states; a message in none of them is nowhere. */
    private static String state(MessageState state) {
        return state == MessageState.DELAYED || state == MessageState.LEASED ? state.toString() : "nowhere";
    }

    private void change(Owned message, Random random, int step) {
        String id = message.id;
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                boolean far = random.nextInt(4) == 0;
                String body = id + "#" + step;
                ScheduleRequest request = ScheduleRequest.of(id, bytes(body), far ? FAR : IN_AN_HOUR);
                boolean isNew = message.state == null;
                ask(
                        message,
                        "schedule",
                        mixed.schedule(request),
                        far ? "IllegalArgumentException" : isNew ? "SCHEDULED" : "DuplicateMessageException");
                if (isNew && !far) {
                    message.state = MessageState.DELAYED;
                    message.body = body;
                }
            }
            case 2 -> {
                ask(message, "cancel", mixed.cancel(id), state(message.state));
                message.leave();
            }
            case 3, 4 -> {
                boolean far = message.state == MessageState.DELAYED && random.nextInt(4) == 0;
                ask(
                        message,
                        "reschedule",
                        mixed.reschedule(id, far ? FAR : DueTime.after(Duration.ofHours(2))),
                        far ? "IllegalArgumentException" : state(message.state));
            }
            case 5 -> ask(message, "promote", mixed.promote(id), state(message.state));
            default -> {
                DeadLetterId known = message.letter == null ? null : message.delivery.deadLetterId();
                String letter = known == null ? id + "@1" : known.toString();
                boolean redriven = message.letter != null && message.state == null;
                ask(
                        message,
                        "redrive",
                        mixed.redrive(letter, null),
                        redriven ? "REDRIVEN" : message.letter == null ? "NONE" : "DUPLICATE");
                if (redriven) {
                    message.state = MessageState.DELAYED;
                    message.body = message.letter;
                    message.letter = null;
                }
            }
        }
    }

    private void settle(Owned message, Random random) {
        Settlement how =
                switch (random.nextInt(5)) {
                    case 0, 1 -> Settlement.ACKNOWLEDGE;
                    case 2 -> new Settlement.Retry(HOUR, bytes("failure"));
                    case 3 -> Settlement.RELEASE;
                    default -> new Settlement.DeadLetter(bytes("failure"));
                };
        boolean held = message.state == MessageState.LEASED;
        // The delivery itself is finished once. Later ends are those of others, which do not know.
        ask(
                message,
                how.toString(),
                held ? message.delivery.settle(how) : partition.settle(message.delivery, how),
                held ? "DONE" : message.state == null ? "STALE_GONE" : "STALE_HELD");
        if (held) {
            boolean stays = how instanceof Settlement.Retry || how == Settlement.RELEASE;
            message.letter = how instanceof Settlement.DeadLetter ? message.body : message.letter;
            message.state = stays ? MessageState.DELAYED : null;
        }
    }

    private void look(Owned message, DelayQueue at) {
        get(CompletableFuture.allOf(message.asked.toArray(CompletableFuture[]::new)));
        String found = get(at.get(message.id))
                .map(stored -> stored.info().state() + " " + text(stored.body()))
                .orElse("nowhere");
        String expected = message.state == null ? "nowhere" : message.state + " " + message.body;
        if (!found.equals(expected)) {
            wrong.add(message.id + " is " + found + " and not " + expected);
        }
    }

    /** Requests that end deliveries and others go in calls of their own, so one waits for the other. */
    private void work(List<Owned> messages, Random random, int steps) {
        for (int step = 0; step < steps; step++) {
            Owned message = messages.get(random.nextInt(messages.size()));
            boolean settles = message.delivery != null && random.nextInt(3) == 0;
            boolean looks = random.nextInt(8) == 0;
            if (looks || settles != message.settles) {
                get(CompletableFuture.allOf(message.asked.toArray(CompletableFuture[]::new)));
                message.settles = settles;
            }
            if (looks) {
                look(message, mixed);
            } else if (settles) {
                settle(message, random);
            } else {
                change(message, random, step);
            }
        }
    }

    @Test
    void should_have_one_effect_for_each_request_in_order_whatever_it_shares_a_call_with() throws Exception {
        UnreliableCaller caller = new UnreliableCaller(seed);
        try (DelayQueueClient unreliable = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, caller)) {
            mixed = (RedisDelayQueue) unreliable.queue(queue.name());
            partition = mixed.partitions().get(0);
            scheduleMany(THREADS * MESSAGES / 2, "m", LONG_AGO);
            List<ClaimedDelivery> claimed = claim(mixed, claims, 256, 0);
            List<Owned> all = new ArrayList<>();
            for (int i = 0; i < THREADS * MESSAGES; i++) {
                all.add(
                        i % 2 == 0
                                ? new Owned("n" + i, null)
                                : new Owned(claimed.get(i / 2).id(), claimed.get(i / 2)));
            }
            int steps = RandomTests.amount("mixed.steps", 100, 1_000);
            List<Future<?>> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                List<Owned> own = all.subList(i * MESSAGES, (i + 1) * MESSAGES);
                Random random = new Random(seed + i);
                threads.add(executor.submit(() -> work(own, random, steps)));
            }
            for (Future<?> thread : threads) {
                thread.get();
            }
            all.forEach(message -> look(message, queue));
            assertThat(wrong).as("with -Dseed=" + seed).isEmpty();
            assertThat(held("messages"))
                    .hasSize((int) all.stream().filter(one -> one.state != null).count());
            assertThat(held("dead:messages")).hasSize((int)
                    all.stream().filter(one -> one.letter != null).count());
            assertThat(caller.mixed).as("calls of several kinds").hasValueGreaterThan(20);
            assertThat(caller.unlucky).as("calls that were lost or repeated").hasValueGreaterThan(20);
        }
    }
}
