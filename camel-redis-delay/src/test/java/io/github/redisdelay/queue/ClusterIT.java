// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.testkit.ClusterServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

/** A cluster of three nodes for the tests of a class. */
@Timeout(120)
abstract class ClusterIT {

    static ClusterServers cluster;
    static RedissonClient redisson;

    @BeforeAll
    static void start() {
        cluster = ClusterServers.start(3, 0);
        redisson = cluster.connect();
    }

    @AfterAll
    static void stop() {
        if (redisson != null) {
            redisson.shutdown();
        }
        if (cluster != null) {
            cluster.close();
        }
    }
}
