// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import static io.github.redisdelay.queue.fake.FakeClaims.message;
import static io.github.redisdelay.queue.fake.FakeClaims.reply;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.fake.FakeClaims;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeSettlements;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.redis.ScheduledTimers;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Receiving single messages where the subscription to wake-ups does not stand, without a Redis. */
@Timeout(60)
class RedisDelayQueueReceiverTest {

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(1);

    private final ScheduledTimers timers = new ScheduledTimers();

    @AfterEach
    void close() {
        timers.close();
    }

    /** A host whose subscription never stands. */
    private static class Host implements ConsumerHost {
        final AtomicBoolean listens = new AtomicBoolean();

        @Override
        public CompletableFuture<Void> listen() {
            listens.set(true);
            return new CompletableFuture<>();
        }

        @Override
        public ClaimId nextClaimId() {
            return FakeHost.randomClaimId();
        }

        @Override
        public CompletableFuture<QueueStats> stats() {
            return new CompletableFuture<>();
        }

        @Override
        public CompletableFuture<Void> stopped(CompletableFuture<Void> left) {
            listens.set(false);
            return left;
        }
    }

    /** Answers each claim a moment later. */
    private static ClaimCalls answering(Timers timers, ClaimReply reply) {
        return new ClaimCalls() {
            @Override
            public CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> answer) {
                timers.schedule(20_000_000, () -> answer.complete(reply));
                return answer;
            }

            @Override
            public Runnable leave(ClaimId claimId) {
                return () -> {};
            }

            @Override
            public CompletableFuture<Void> close() {
                return CompletableFuture.completedFuture(null);
            }
        };
    }

    private RedisDelayQueueReceiver receiver(Host host, ClaimCalls claims) {
        return new RedisDelayQueueReceiver(
                List.of(new PartitionState(new FakeSettlements(timers), claims, CallGate.OPEN, timers.nanoTime())),
                ConsumerOptions.DEFAULTS,
                host,
                REQUEST_TIMEOUT,
                timers,
                new Random(1),
                new LeaseExtender(timers),
                delivery -> {});
    }

    @Test
    void should_look_also_when_the_subscription_does_not_stand() throws Exception {
        RedisDelayQueueReceiver receiver = receiver(new Host(), answering(timers, reply(null, null, message("a"))));
        assertThat(receiver.receive(REQUEST_TIMEOUT)).isNotNull();
        receiver.close();
    }

    @Test
    void should_look_again_when_the_subscription_stands() throws Exception {
        CompletableFuture<Void> subscription = new CompletableFuture<>();
        Host host = new Host() {
            @Override
            public CompletableFuture<Void> listen() {
                return subscription;
            }
        };
        ClaimCalls before = answering(timers, reply(null, null));
        ClaimCalls behind = answering(timers, reply(null, null, message("a")));
        RedisDelayQueueReceiver receiver = receiver(host, new ClaimCalls() {
            @Override
            public CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> answer) {
                if (subscription.isDone()) {
                    return behind.claim(request, answer);
                }
                answer.thenRun(() -> timers.schedule(20_000_000, () -> subscription.complete(null)));
                return before.claim(request, answer);
            }

            @Override
            public Runnable leave(ClaimId claimId) {
                return () -> {};
            }

            @Override
            public CompletableFuture<Void> close() {
                return CompletableFuture.completedFuture(null);
            }
        });
        assertThat(receiver.receive(Duration.ofSeconds(20)).id()).isEqualTo("a");
        receiver.close();
    }

    @Test
    void should_not_listen_any_more_when_it_is_closed_while_it_begins_to_listen() throws Exception {
        RedisDelayQueueReceiver[] receiver = new RedisDelayQueueReceiver[1];
        Host host = new Host() {
            @Override
            public CompletableFuture<Void> listen() {
                receiver[0].close(); // by another thread
                return super.listen();
            }
        };
        receiver[0] = receiver(host, new FakeClaims(timers));
        assertThat(receiver[0].receive(null)).isNull();
        assertThat(host.listens).isFalse();
    }
}
