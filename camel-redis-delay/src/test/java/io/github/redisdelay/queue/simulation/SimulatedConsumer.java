// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import io.github.redisdelay.history.RareState;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.fake.StatsBuilder;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.ConsumerHost;
import io.github.redisdelay.queue.internal.consume.ConsumerLoop;
import io.github.redisdelay.queue.internal.consume.DeliverySettler;
import io.github.redisdelay.queue.internal.consume.LeaseExtender;
import io.github.redisdelay.queue.internal.consume.PartitionState;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import io.github.redisdelay.queue.simulation.SwarmFaults.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** One JVM with a consumer of a {@link SimulatedQueue}: the real consumer loop between a simulated network and handler. */
public final class SimulatedConsumer implements DeliverySettler, ClaimCalls, DeliveryHandler, ConsumerHost {

    /** After so long without an answer a call is sent again. */
    static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** A message that failed so often is given up. */
    static final int ATTEMPTS = 6;
    /** A message that failed comes again within this time. */
    static final int RETRY_MILLIS = 5_000;

    public final SimulatedQueue queue;
    public final int number;
    public final String member;
    public final ConsumerOptions options;
    public final ConsumerLoop loop;
    private final NodeTimers timers;
    private final LeaseExtender leases;
    /** For how many nanoseconds it works on a message; negative: it fails after that. */
    private final ToLongFunction<Delivery> work;
    /** How fast its machine's clock runs. */
    public final double speed;

    /** What goes wrong between it and Redis; null for what does so for all. */
    private SwarmFaults own;
    /** Its work never ends. */
    private boolean stuck;

    /** Done after Redis has given it messages, which it does not know yet; null for nothing. */
    Runnable whenGiven;

    public boolean dead;
    public boolean suspended;
    public int working;
    /** Since when it has had a free slot and was not given all that it asked for. */
    public long roomSince;

    private boolean claiming;
    private int sequence;
    /** The last of its calls that Redis executed. */
    private int executed;

    private long lastBegunNanos = Long.MIN_VALUE / 2;

    /** The machine's own clock, and its threads: both end with it. */
    private final class NodeTimers implements Timers {
        private final long skew = queue.random.nextLong(1L << 50) - (1L << 49);

        @Override
        public long nanoTime() {
            return (long) (queue.timers.nanoTime() * speed) + skew;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable work) {
            return queue.timers.schedule((long) Math.ceil(delayNanos / speed), () -> {
                if (!dead) {
                    work.run();
                }
            });
        }
    }

    public SimulatedConsumer(SimulatedQueue queue, int number, ConsumerOptions options, ToLongFunction<Delivery> work) {
        this(queue, number, options, 1, work);
    }

    /** @param speed how fast its machine's clock runs; 1 if it is right */
    public SimulatedConsumer(
            SimulatedQueue queue, int number, ConsumerOptions options, double speed, ToLongFunction<Delivery> work) {
        this.queue = queue;
        this.speed = speed;
        this.number = number;
        this.member = "c" + number + " channel" + number;
        this.options = options;
        this.work = work;
        this.timers = new NodeTimers();
        this.leases = new LeaseExtender(timers);
        this.roomSince = queue.timers.nanoTime();
        this.loop = new ConsumerLoop(
                List.of(new PartitionState(this, this, CallGate.OPEN, timers.nanoTime())),
                options,
                this,
                timers,
                queue.random,
                leases,
                task -> timers.schedule(0, task),
                this);
        queue.add(this);
    }

    @Override
    public ClaimId nextClaimId() {
        byte[] bytes = new byte[ClaimId.LENGTH];
        queue.random.nextBytes(bytes);
        return ClaimId.of(bytes);
    }

    @Override
    public CompletableFuture<Void> listen() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        return CompletableFuture.completedFuture(new StatsBuilder().build());
    }

    @Override
    public CompletableFuture<Void> stopped(CompletableFuture<Void> left) {
        return left;
    }

    public boolean hasRoom() {
        return !dead && !suspended && working < options.concurrentConsumers();
    }

    boolean isStuck() {
        return stuck;
    }

    boolean happens(Kind kind) {
        return (own == null ? queue.faults : own).happens(kind);
    }

    /** From now on nothing goes wrong any more. */
    void heal() {
        own = SwarmFaults.NONE;
        suspended = false;
        roomSince = queue.timers.nanoTime();
        loop.resume();
    }

    /** From now on, for ever: @param faults what goes wrong @param stuck whether its work ends no more */
    void breakDown(SwarmFaults faults, boolean stuck) {
        own = faults;
        this.stuck = stuck;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> answer) {
        if (claiming) {
            queue.fail("two claims at a time");
        }
        claiming = true;
        ConsumerOptions.Batch batch = options.batch();
        if (request.messages() < 1
                || (batch != null && request.messages() != batch.size())
                || (batch == null && request.messages() > options.maxMessagesPerPoll())
                // One may be asked for now and then though no slot is free.
                || request.expired() > Math.max(1, options.concurrentConsumers() - working)) {
            queue.fail("claim of " + request + " with " + working + " under way");
        }
        send(request, answer, ++sequence);
        return answer;
    }

    private void send(ClaimRequest request, CompletableFuture<ClaimReply> answer, int number) {
        queue.claims++;
        if (happens(Kind.REFUSED)) {
            timers.schedule(queue.latency.getAsLong(), () -> {
                claiming = false;
                answer.completeExceptionally(new IllegalStateException("refused"));
            });
            return;
        }
        boolean requestLost = happens(Kind.REQUEST_LOST);
        boolean answerLost = happens(Kind.ANSWER_LOST);
        // A call that was sent arrives though its sender has died.
        queue.timers.schedule(queue.latency.getAsLong(), () -> {
            if (requestLost) {
                return;
            }
            ClaimReply reply = queue.claim(this, request, executed == number);
            executed = number;
            if (!dead && whenGiven != null && !reply.messages().isEmpty()) {
                whenGiven.run();
            }
            queue.reached.countIf(dead && !reply.messages().isEmpty(), RareState.CLAIM_OF_DEAD);
            if (!answerLost) {
                timers.schedule(queue.latency.getAsLong(), () -> {
                    claiming = false;
                    if (reply.messages().size() >= (options.batch() == null ? request.messages() : 1)) {
                        roomSince = queue.timers.nanoTime(); // it takes what there is, as fast as it can
                    }
                    answer.complete(reply);
                });
            }
        });
        if (requestLost || answerLost) {
            timers.schedule(REPEAT_NANOS, () -> {
                loop.attemptFailed(0, new IllegalStateException("no answer"));
                send(request, answer, number);
            });
        }
    }

    @Override
    public Runnable leave(ClaimId claimId) {
        if (claiming) {
            queue.fail("left the idle consumers while a claim was under way");
        }
        int number = ++sequence;
        return () -> {
            if (happens(Kind.LEAVE_LOST)) {
                return;
            }
            queue.timers.schedule(queue.latency.getAsLong(), () -> {
                if (number > executed) { // else a later claim was faster
                    executed = number;
                    queue.leave(this);
                }
            });
        };
    }

    @Override
    public void handle(Delivery delivery) {
        begin(List.of(delivery));
    }

    @Override
    public void handle(List<? extends Delivery> batch) {
        begin(batch);
    }

    private void begin(List<? extends Delivery> batch) {
        Delivery first = batch.get(0);
        int most = options.batch() == null ? 1 : options.batch().size();
        if (batch.size() > most
                || batch.stream().anyMatch(one -> !one.claimId().equals(first.claimId()))
                || (batch.size() > 1 && batch.stream().anyMatch(one -> one.attempt() > 1))) {
            queue.fail("no batch of at most " + most + ": " + batch);
        }
        working++;
        if (working > options.concurrentConsumers()) {
            queue.fail(working + " messages under way in " + options.concurrentConsumers() + " slots");
        }
        int[] left = {batch.size()};
        for (Delivery delivery : batch) {
            check(delivery);
            long nanos = work.applyAsLong(delivery);
            timers.schedule(Math.abs(nanos), () -> {
                if (stuck) {
                    return;
                }
                if (--left[0] == 0 && working-- == options.concurrentConsumers()) {
                    roomSince = queue.timers.nanoTime();
                }
                delivery.settle(nanos < 0 ? failed(delivery) : Settlement.ACKNOWLEDGE);
            });
        }
    }

    private Settlement failed(Delivery delivery) {
        return delivery.attempt() >= ATTEMPTS
                ? new Settlement.DeadLetter(new byte[0])
                : new Settlement.Retry(Duration.ofMillis(queue.random.nextInt(RETRY_MILLIS)), new byte[0]);
    }

    private void check(Delivery delivery) {
        long now = queue.timers.nanoTime();
        long leaseNanos = options.visibilityTimeout().toNanos();
        if (delivery.dueMicros() > queue.micros()) {
            queue.fail(delivery + " is early");
        }
        if (speed != 1 || now - queue.steppedNanos < leaseNanos) {
            return; // it cannot know when the lease ends
        }
        if (delivery.lostLeases() >= 2 && working > 1 && now - lastBegunNanos < leaseNanos / 4) {
            queue.fail(delivery + " lost two leases and is begun beside what was begun lately");
        }
        lastBegunNanos = now;
        SimulatedQueue.Message message = queue.pending.get(delivery.id());
        if (message == null || !message.leased || !message.claim.equals(delivery.claimId())) {
            queue.fail(delivery + " is begun under a lost lease");
        }
        if (message != null
                && message.leased
                && message.claim.equals(delivery.claimId())
                && (message.leaseEnds - queue.micros()) * 1_000 < leaseNanos / 2) {
            queue.fail(delivery + " is begun with less than half of its lease");
        }
    }

    @Override
    public Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement how) {
        return dead ? new SubmissionPromise<>() : sent(() -> queue.settle(delivery.id(), delivery.claimId(), how));
    }

    @Override
    public Submission<SettleResult> extend(ClaimedDelivery delivery, long micros) {
        return sent(() -> queue.extend(delivery.id(), delivery.claimId(), micros));
    }

    private Submission<SettleResult> sent(Supplier<SettleResult> call) {
        SubmissionPromise<SettleResult> submission = new SubmissionPromise<>();
        SettleResult[] result = {null};
        send(
                () -> {
                    result[0] = result[0] == null ? call.get() : result[0];
                    return result[0];
                },
                submission);
        return submission;
    }

    /** @param call executed once, however often it arrives */
    private void send(Supplier<SettleResult> call, SubmissionPromise<SettleResult> submission) {
        boolean requestLost = happens(Kind.REQUEST_LOST);
        boolean answerLost = happens(Kind.ANSWER_LOST);
        queue.timers.schedule(queue.latency.getAsLong(), () -> {
            if (requestLost) {
                return;
            }
            SettleResult result = call.get();
            if (!answerLost) {
                timers.schedule(queue.latency.getAsLong(), () -> submission.succeed(result));
            }
        });
        if (requestLost || answerLost) {
            timers.schedule(REPEAT_NANOS, () -> send(call, submission));
        }
    }

    @Override
    public String name() {
        return "orders";
    }

    public Timers timers() {
        return timers;
    }

    @Override
    public CompletableFuture<Void> close() {
        return CompletableFuture.completedFuture(null);
    }
}
