// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.model.QueueSnapshot;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Calls that Redis has no memory for, and scripts that it has forgotten. */
class ScriptMemoryIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Test
    void should_refuse_only_schedule_when_the_memory_is_full() throws Exception {
        try (RedisServer server = RedisServer.dedicated("maxmemory-policy noeviction")) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(2);
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                RedisDelayQueue queue = (RedisDelayQueue) client.queue("full");
                QueueKeys keys = queue.partitions().get(0).address().keys();
                for (int i = 0; i < 8; i++) {
                    get(queue.schedule(ScheduleRequest.of("m" + i, new byte[100], DueTime.now())
                            .withPriority(i == 7 ? 3 : 0)
                            .withMaximumQueueLength(i == 7 ? 100 : 0)));
                }
                get(queue.schedule(ScheduleRequest.of("later", new byte[100], DueTime.after(Duration.ofHours(1)))));
                get(queue.schedule(ScheduleRequest.of("last", new byte[100], DueTime.after(Duration.ofHours(2)))));
                // One of whose messages nothing is special: see plain.lua.
                RedisDelayQueue plain = (RedisDelayQueue) client.queue("plain");
                for (String id : List.of("first", "later")) {
                    get(plain.schedule(ScheduleRequest.of(id, new byte[100], DueTime.after(Duration.ofHours(1)))));
                }
                redisson.getRedisNodes(RedisNodes.SINGLE).getInstance().setConfig("maxmemory", "1");

                for (RedisDelayQueue any : List.of(queue, plain)) {
                    QueueSnapshot before = QueueSnapshot.read(
                            redisson, any.partitions().get(0).address().keys());
                    for (DuplicatePolicy policy : DuplicatePolicy.values()) {
                        for (String id : List.of("new", "later")) {
                            assertThatThrownBy(() -> any.schedule(ScheduleRequest.of(id, new byte[1], DueTime.now())
                                                    .withOnDuplicate(policy))
                                            .result()
                                            .get(20, TimeUnit.SECONDS))
                                    .cause()
                                    .isInstanceOf(DelayQueueException.class)
                                    .hasMessageContaining("queue '" + any.name()
                                            + "': Redis has no memory left (maxmemory is reached), nothing was stored");
                        }
                    }
                    List<CompletableFuture<?>> several = new ArrayList<>();
                    any.together(() -> {
                        for (int i = 0; i < 3; i++) {
                            several.add(any.schedule(ScheduleRequest.of("new" + i, new byte[1], DueTime.now()))
                                    .result());
                        }
                        return several;
                    });
                    assertThat(several).allSatisfy(each -> assertThatThrownBy(() -> each.get(20, TimeUnit.SECONDS))
                            .hasMessageContaining("nothing was stored"));
                    assertThat(QueueSnapshot.read(
                                    redisson, any.partitions().get(0).address().keys()))
                            .isEqualTo(before);
                }

                ClaimCalls claims = ClientAccess.consumers(client)
                        .newClaims(queue.partitions().get(0).address(), error -> {});
                ClaimId claimId = FakeHost.randomClaimId();
                ClaimReply reply = get(claims.claim(
                        new ClaimRequest(claimId, 60_000_000, 8, 8, false, 1, ClaimRequest.NO_BATCH),
                        new CompletableFuture<>()));
                List<ClaimedDelivery> held = reply.messages().stream()
                        .map(m -> new ClaimedDelivery(
                                queue.partitions().get(0),
                                m,
                                claimId,
                                reply.timeMicros(),
                                0,
                                0,
                                new FakeTimers(),
                                (d, w) -> {}))
                        .sorted(Comparator.comparing(ClaimedDelivery::id))
                        .toList();
                assertThat(held).hasSize(8);
                assertThat(get(queue.partitions().get(0).extend(held.get(0), 120_000_000)))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(0).settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(1).settle(new Settlement.Retry(Duration.ofHours(1), new byte[1000]))))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(2).settle(Settlement.RELEASE))).isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(3).settle(new Settlement.DeadLetter(new byte[1000]))))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(4).settle(new Settlement.Drop(Duration.ZERO))))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(queue.cancel("m5")).previousState()).isEqualTo(MessageState.LEASED);
                assertThat(get(queue.cancel("last")).previousState()).isEqualTo(MessageState.DELAYED);
                assertThat(get(queue.reschedule("later", DueTime.now())).previousState())
                        .isEqualTo(MessageState.DELAYED);
                // Nothing to do is no reason to be refused either.
                assertThat(get(queue.partitions().get(0).settle(held.get(0), Settlement.ACKNOWLEDGE)))
                        .isEqualTo(SettleResult.STALE_GONE);
                assertThat(get(queue.partitions()
                                .get(0)
                                .settle(held.get(2), new Settlement.Retry(Duration.ZERO, new byte[0]))))
                        .isEqualTo(SettleResult.STALE_HELD);
                assertThat(get(queue.partitions().get(0).extend(held.get(0), 1_000_000)))
                        .isEqualTo(SettleResult.STALE_GONE);
                assertThat(get(queue.cancel("none")).previousState()).isEqualTo(MessageState.NONE);
                assertThat(get(queue.reschedule("none", DueTime.now())).previousState())
                        .isEqualTo(MessageState.NONE);
                assertThat(get(queue.admin().stats()).dead()).isEqualTo(1);
                assertThat(get(queue.admin().pause())).isTrue();
                assertThat(get(queue.admin().resume())).isTrue();
                assertThat(get(queue.promote("later")).previousState()).isEqualTo(MessageState.DELAYED);
                MessageInfo dead = get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 1))
                        .messages()
                        .get(0);
                assertThat(get(queue.redrive(dead.id(), null))).isEqualTo(RedriveOutcome.REDRIVEN);
                assertThat(get(queue.redrive(dead.id(), null))).isEqualTo(RedriveOutcome.NONE);
                assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 1))).isZero();
                assertThat(get(queue.get("later"))).isPresent();
                // With a priority, whose set is new, and remembered.
                assertThat(get(held.get(6).settle(new Settlement.DeadLetter(new byte[1000], Duration.ofHours(1)))))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(held.get(7).settle(new Settlement.Retry(Duration.ZERO, new byte[0]))))
                        .isEqualTo(SettleResult.DONE);
                assertThat(get(queue.admin().trimDeadLetters(Duration.ofNanos(1), 0)))
                        .isEqualTo(1);
                redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE)
                        .remove("m1");
                assertThat(get(queue.admin().check())).isEqualTo(new CheckResult(5, 1, 0, 0));

                QueueSnapshot after = QueueSnapshot.read(redisson, keys);
                after.assertOneStateAtATime(false);
                assertThat(after.keys().get("delayed").keySet()).containsExactly("later", "m1", "m2", "m3");
                assertThat(after.keys().get("delayed:3").keySet()).containsExactly("m7");
                assertThat(after.keys().get("seen").keySet()).containsExactly("m6");
                assertThat(after.keys().get("leased")).isEmpty();
                // The first call of a session, and an empty claim.
                ClaimCalls others = ClientAccess.consumers(client)
                        .newClaims(queue.partitions().get(0).address(), error -> {});
                assertThat(get(others.claim(
                                        new ClaimRequest(
                                                FakeHost.randomClaimId(),
                                                60_000_000,
                                                8,
                                                8,
                                                false,
                                                1,
                                                ClaimRequest.NO_BATCH),
                                        new CompletableFuture<>()))
                                .messages())
                        .hasSize(4);
                assertThat(get(others.claim(
                                        new ClaimRequest(
                                                FakeHost.randomClaimId(),
                                                60_000_000,
                                                8,
                                                8,
                                                false,
                                                1,
                                                ClaimRequest.NO_BATCH),
                                        new CompletableFuture<>()))
                                .messages())
                        .isEmpty();
            } finally {
                redisson.shutdown();
            }
        }
    }

    private static <T> T get(Submission<T> sent) throws Exception {
        return get(sent.result());
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    @Test
    void should_notice_nothing_when_the_scripts_are_forgotten() throws Exception {
        RedissonClient redisson = redis.client();
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            DelayQueue queue = client.queue(redis.uniqueQueue());
            BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
            queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, received::add);
            for (int i = 0; i < 5; i++) {
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                get(queue.schedule(ScheduleRequest.of("a", new byte[1], DueTime.after(Duration.ofHours(1)))));
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                get(queue.reschedule("a", DueTime.now()));
                Delivery delivery = received.poll(10, TimeUnit.SECONDS);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.NONE);
                redisson.getScript(StringCodec.INSTANCE).scriptFlush();
                assertThat(get(queue.admin().stats()).delayed()).isZero();
            }
        }
    }
}
