// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/**
 * The server's clock steps by 10 minutes. Forward: what waits comes early in real time, and leases end early, so that
 * some messages come twice, fenced. Back: what waits comes late, but what is scheduled from then on comes in time.
 * Nothing is lost, and consumers that slept notice within their safety interval.
 */
@Tag("faults")
class SteppedClockIT {

    private static final Duration STEP = SteppedServer.STEP;
    private static final String FORWARD = "server's clock steps 10 min forward";
    private static final String BACK = "server's clock steps 10 min back";
    private static final String CORRECTED = "server's clock is set right again";

    private static SideBySide<String> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(2, List.of(FORWARD, BACK), name -> {
            if (name.equals(FORWARD)) {
                stepForward();
            } else {
                stepBack();
            }
        });
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @Test
    void should_lose_nothing_when_the_clock_steps_forward_under_load() throws Exception {
        experiments.result(FORWARD);
    }

    @Test
    void should_deliver_in_time_what_is_scheduled_after_the_clock_has_stepped_back_under_load() throws Exception {
        experiments.result(BACK);
    }

    private static void stepForward() throws Exception {
        SteppedServer site = new SteppedServer();
        try (Experiment experiment = new Experiment(FORWARD, site)) {
            long inFlight = 0;
            try (Survivors survivors = new Survivors(experiment).produce();
                    OtherConsumer other = new OtherConsumer(experiment)) {
                survivors.consume();
                for (int round = 0; round < Experiment.rounds(); round++) {
                    experiment.run(Duration.ofSeconds(1));
                    inFlight += experiment.inFlightUnderLoad();
                    site.forward(experiment, FORWARD);
                }
                survivors.endProducer();
                experiment.awaitEmpty();
                experiment.probe("probe-1");
                experiment.probe("probe-2");
                experiment.probeEach("probes");
            }
            site.forget();
            experiment.judge(Experiment.rounds(), inFlight);
        }
    }

    private static void stepBack() throws Exception {
        SteppedServer site = new SteppedServer();
        try (Experiment experiment = new Experiment(BACK, site)) {
            long inFlight = 0;
            try (Survivors survivors = new Survivors(experiment).produce();
                    OtherConsumer other = new OtherConsumer(experiment)) {
                survivors.consume();
                for (int round = 0; round < Experiment.rounds(); round++) {
                    experiment.run(Duration.ofSeconds(1));
                    inFlight += experiment.inFlightUnderLoad();
                    experiment.history.clockSteps(STEP.negated());
                    site.step(STEP.negated());
                    // No fault for the checker: whatever comes twice now does so without a cause.
                    long back = experiment.history.now();
                    experiment.healed();
                    experiment.run(Experiment.LEASE.plusSeconds(1));
                    await().atMost(Experiment.SAFETY_INTERVAL.plusSeconds(10))
                            .until(() -> isDeliveredOfThoseScheduledAfter(back, experiment.events()));
                    site.forward(experiment, CORRECTED);
                }
                survivors.endProducer();
                experiment.awaitEmpty();
                experiment.probe("probe-1");
                experiment.probe("probe-2");
                experiment.probeEach("probes");
            }
            site.forget();
            experiment.judge(Experiment.rounds(), inFlight);
        }
    }

    private static boolean isDeliveredOfThoseScheduledAfter(long micros, List<Event> events) {
        Set<String> scheduled = events.stream()
                .filter(event -> event.what() == What.SCHEDULING && event.micros() > micros)
                .map(Event::id)
                .collect(Collectors.toSet());
        return events.stream().anyMatch(event -> event.what() == What.DELIVERED && scheduled.contains(event.id()));
    }

    // One message at a time.

    private static final ConsumerOptions LEASED_FOR_A_MINUTE =
            ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1).withVisibilityTimeout(Duration.ofMinutes(1));
    private static final ConsumerOptions LEASED_FOR_15_MINUTES =
            ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1).withVisibilityTimeout(Duration.ofMinutes(15));

    private interface Steps {
        void on(SteppedServer server, DelayQueue queue) throws Exception;
    }

    private static void onAServer(Steps steps) throws Exception {
        SteppedServer server = new SteppedServer();
        try {
            RedissonClient redisson = server.connect();
            try (DelayQueueClient client = server.open(redisson)) {
                steps.on(server, client.queue(Experiment.QUEUE));
            } finally {
                redisson.shutdown();
            }
        } finally {
            server.close();
        }
    }

    private static void schedule(DelayQueue queue, String id, Duration delay) throws Exception {
        queue.schedule(ScheduleRequest.of(id, LoadProducer.body(id), DueTime.after(delay)))
                .result()
                .get(20, TimeUnit.SECONDS);
    }

    private static Delivery receive(DelayQueue queue, ConsumerOptions options) throws Exception {
        DelayQueueReceiver receiver = queue.receiver(options, delivery -> {});
        return receiver.receive(Duration.ZERO);
    }

    private static SettleResult acknowledge(Delivery delivery) throws Exception {
        return delivery.settle(Settlement.ACKNOWLEDGE).result().get(20, TimeUnit.SECONDS);
    }

    @Test
    void should_end_leases_early_and_fence_who_held_them_when_the_clock_steps_forward() throws Exception {
        onAServer((server, queue) -> {
            schedule(queue, "worked on", Duration.ZERO);
            schedule(queue, "waiting", STEP.minusSeconds(1));
            schedule(queue, "far", STEP.plusMinutes(5));
            Delivery first = receive(queue, LEASED_FOR_A_MINUTE);
            assertThat(first.id()).isEqualTo("worked on");
            assertThat(receive(queue, LEASED_FOR_A_MINUTE)).isNull();

            server.step(STEP);
            Delivery second = receive(queue, LEASED_FOR_A_MINUTE);
            assertThat(second.id()).isEqualTo("worked on");
            assertThat(second.attempt()).isEqualTo(2);
            assertThat(second.redeliveryReason()).isEqualTo(RedeliveryReason.LEASE_EXPIRED);
            assertThat(acknowledge(first)).isEqualTo(SettleResult.STALE_HELD);
            assertThat(acknowledge(second)).isEqualTo(SettleResult.DONE);
            Delivery early = receive(queue, LEASED_FOR_A_MINUTE);
            assertThat(early.id()).isEqualTo("waiting");
            assertThat(acknowledge(early)).isEqualTo(SettleResult.DONE);
            assertThat(receive(queue, LEASED_FOR_A_MINUTE)).as("5 min are left").isNull();
        });
    }

    @Test
    void should_keep_leases_and_order_by_the_servers_clock_when_it_steps_back() throws Exception {
        onAServer((server, queue) -> {
            schedule(queue, "worked on", Duration.ZERO);
            schedule(queue, "waiting", Duration.ZERO);
            Delivery held = receive(queue, LEASED_FOR_15_MINUTES);
            assertThat(held.id()).isEqualTo("worked on");

            server.step(STEP.negated());
            schedule(queue, "new", Duration.ZERO);
            Delivery next = receive(queue, LEASED_FOR_15_MINUTES);
            assertThat(next.id()).as("due by the clock as it is now").isEqualTo("new");
            assertThat(acknowledge(next)).isEqualTo(SettleResult.DONE);
            assertThat(receive(queue, LEASED_FOR_15_MINUTES))
                    .as("late by the step, and the lease is not over")
                    .isNull();
            assertThat(acknowledge(held)).isEqualTo(SettleResult.DONE);

            server.step(STEP);
            Delivery late = receive(queue, LEASED_FOR_15_MINUTES);
            assertThat(late.id()).isEqualTo("waiting");
            assertThat(late.attempt()).isOne();
            assertThat(acknowledge(late)).isEqualTo(SettleResult.DONE);
        });
    }
}
