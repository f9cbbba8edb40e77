// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** Clients whose clocks are an hour ahead or behind: what is due when, only the server's clock decides. */
@Tag("faults")
class SkewedClocksIT {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration RUN = Duration.ofSeconds(2);

    @Test
    void should_deliver_at_the_right_time_whatever_the_clients_clocks_say() throws Exception {
        try (Experiment experiment = new Experiment("clients' clocks skewed by an hour")) {
            RedissonClient redisson = TestConnections.open(experiment.server.address());
            DelayQueueClient ahead = TestClients.skewed(redisson, Experiment.OPTIONS, HOUR);
            DelayQueueClient behind = TestClients.skewed(redisson, Experiment.OPTIONS, HOUR.negated());
            LoadConsumer aheadConsumer =
                    new LoadConsumer(experiment.newConsumer("c-ahead"), Experiment.LEASE, experiment.seed, step -> {});
            LoadConsumer behindConsumer =
                    new LoadConsumer(experiment.newConsumer("c-behind"), Experiment.LEASE, experiment.seed, step -> {});
            aheadConsumer.consume(ahead.queue(Experiment.QUEUE), Experiment.SLOTS);
            behindConsumer.consume(behind.queue(Experiment.QUEUE), Experiment.SLOTS);
            LoadProducer aheadProducer = new LoadProducer(
                    ahead.queue(Experiment.QUEUE), experiment.newHistory("p-ahead"), "ahead", 100, experiment.seed);
            LoadProducer behindProducer = new LoadProducer(
                    behind.queue(Experiment.QUEUE),
                    experiment.newHistory("p-behind"),
                    "behind",
                    100,
                    experiment.seed + 1);
            experiment.run(RUN.multipliedBy(Experiment.rounds()));
            long inFlight = experiment.inFlightUnderLoad();
            aheadProducer.end();
            behindProducer.end();
            experiment.awaitEmpty();
            experiment.probe("probe");
            experiment.probeEach("probes");
            ahead.close();
            behind.close();
            aheadConsumer.close();
            behindConsumer.close();
            redisson.shutdown();
            HistoryChecker.Report report = experiment.judge(1, inFlight);
            assertThat(report.duplicates()).as("duplicates").isZero();
        }
    }
}
