// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.nio.file.Path;
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

    @Test
    void should_lose_nothing_of_any_partition_when_JVMs_are_killed() throws Exception {
        Site site = new Site(RedisServer.dedicated());
        try (Experiment experiment = new Experiment("SIGKILL at random moments, 3 partitions", site)) {
            FaultChild.killAtRandom(
                    experiment, directory, site.server().address(), PARTITIONS, KILLS * Experiment.rounds());
        }
    }
}
