// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

/** JVMs of producers and consumers of a queue with three partitions are killed under load. */
@Tag("faults")
class PartitionsFaultsIT {

    private static final String TITLE = "SIGKILL at random moments, 3 partitions";
    private static final int PARTITIONS = 3;
    /** How many are killed in each round. */
    private static final int KILLS = 4;

    @TempDir
    static Path directory;

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

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void should_lose_nothing_of_any_partition_when_JVMs_are_killed(boolean groups) throws Exception {
        Experiment.reach(Where.PROCESSES_KILLED, seed -> {
            Site site = new Site(RedisServer.dedicated());
            String title = groups ? "groups: SIGKILL at random moments, 3 partitions" : TITLE;
            try (Experiment experiment = new Experiment(title, seed, site)) {
                if (groups) {
                    experiment.withLimits(new QueueLimits(1, true));
                }
                Path own = Files.createDirectory(directory.resolve("groups-" + groups + seed));
                String address = site.server().address();
                FaultChild.killAtRandom(experiment, own, address, PARTITIONS, KILLS * Experiment.rounds());
                return experiment.reached();
            }
        });
    }
}
