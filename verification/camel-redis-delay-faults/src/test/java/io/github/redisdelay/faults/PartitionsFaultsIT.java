// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** JVMs of producers and consumers of a queue with three partitions are killed under load. */
@Tag("faults")
class PartitionsFaultsIT {

    private static final int PARTITIONS = 3;
    /** How many are killed in each round. */
    private static final int KILLS = 4;

    @TempDir
    static Path directory;

    private final List<FaultChild> children = new ArrayList<>();

    /** A server with a queue of three partitions. */
    private record Site(RedisServer server) implements ExperimentSite {

        @Override
        public RedissonClient connect() {
            return TestConnections.open(server.address());
        }

        @Override
        public DelayQueue queue(DelayQueueClient client) {
            return client.queue(Experiment.QUEUE, PARTITIONS);
        }

        @Override
        public String watched() {
            return server.address();
        }

        @Override
        public void close() {
            server.close();
        }
    }

    @AfterEach
    void killChildren() {
        children.forEach(FaultChild::close);
    }

    private FaultChild start(Experiment experiment, Site site, boolean producer) throws IOException {
        FaultChild child = FaultChild.start(
                experiment,
                directory,
                producer,
                (producer ? "p" : "c") + children.size(),
                null,
                site.server().address(),
                PARTITIONS);
        children.add(child);
        return child;
    }

    @Test
    void should_lose_nothing_of_any_partition_when_JVMs_are_killed() throws Exception {
        int kills = KILLS * Experiment.rounds();
        Site site = new Site(RedisServer.dedicated());
        try (Experiment experiment = new Experiment("SIGKILL at random moments, 3 partitions", site)) {
            FaultChild[] running = new FaultChild[3];
            for (int i = 0; i < running.length; i++) {
                running[i] = start(experiment, site, i == 0);
            }
            for (FaultChild child : running) {
                child.awaitWork();
            }
            long inFlight = 0;
            for (int kill = 0; kill < kills; kill++) {
                experiment.run(Duration.ofMillis(experiment.random.nextInt(700)));
                inFlight += experiment.inFlightUnderLoad();
                int victim = experiment.random.nextInt(running.length);
                running[victim].kill(experiment.history);
                running[victim] = start(experiment, site, victim == 0).awaitWork();
            }
            running[0].kill(experiment.history);
            experiment.awaitEmpty();
            experiment.probeEach("probes");
            running[1].end();
            running[2].end();
            experiment.judge(kills + 1, inFlight);
        }
    }
}
