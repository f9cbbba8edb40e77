// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The share of a queue's rate that four consumers reach, each with connections of its own. For a machine that does nothing else. */
@Tag("faults")
class RateBench {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final int CONSUMERS = 4;
    /** Those of the first seconds do not count: the JVM is slow at first. */
    private static final int WARM_UP_SECONDS = 3;

    private static final int SECONDS = 12;

    @ParameterizedTest
    @CsvSource({"1000, 20", "1, 1"})
    void should_reach_the_rate(int perSecond, int burst) throws Exception {
        Rate rate = Rate.of(perSecond, Duration.ofSeconds(1), burst);
        int messages = perSecond * (WARM_UP_SECONDS + SECONDS);
        ConcurrentLinkedQueue<Long> claimed = new ConcurrentLinkedQueue<>();
        ExecutorService executor = Executors.newFixedThreadPool(4);
        List<RedissonClient> connected = new ArrayList<>();
        List<DelayQueueClient> clients = new ArrayList<>();
        try (RedisServer server = RedisServer.dedicated()) {
            for (int i = 0; i < CONSUMERS; i++) {
                connected.add(TestConnections.open(server.address()));
                clients.add(DelayQueueClient.create(connected.get(i), ClientOptions.DEFAULTS));
            }
            List<Submission<ScheduleResult>> sent = new ArrayList<>();
            for (int i = 0; i < messages; i++) {
                DelayQueue queue = clients.get(0).queue(Experiment.QUEUE);
                sent.add(queue.schedule(ScheduleRequest.of(null, new byte[200], DueTime.now())));
            }
            for (Submission<?> each : sent) {
                each.result().get(20, TimeUnit.SECONDS);
            }
            ConsumerOptions options = ConsumerOptions.DEFAULTS
                    .withConcurrentConsumers(4)
                    .withLimits(new QueueLimits(1, true, rate, null, 0));
            for (DelayQueueClient client : clients) {
                client.queue(Experiment.QUEUE).consume(options, executor, delivery -> {
                    claimed.add(delivery.claimedMicros());
                    delivery.settle(Settlement.ACKNOWLEDGE);
                });
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> claimed.size() == messages);
        } finally {
            clients.forEach(DelayQueueClient::close);
            connected.forEach(RedissonClient::shutdown);
            executor.shutdownNow();
        }
        List<Long> times =
                claimed.stream().sorted().skip(perSecond * WARM_UP_SECONDS).toList();
        long micros = times.get(times.size() - 1) - times.get(0);
        double reached = (double) (times.size() - 1) * rate.intervalMicros() / micros;
        LOG.info("{} consumers reach {} % of {}", CONSUMERS, Math.round(1000 * reached) / 10.0, rate);
        assertThat(reached).as("share of the rate").isBetween(0.95, 1.01);
    }
}
