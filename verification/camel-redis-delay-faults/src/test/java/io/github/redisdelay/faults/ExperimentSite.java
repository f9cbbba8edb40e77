// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.List;
import org.redisson.api.RedissonClient;

/** The servers of an experiment, and how clients get at its queue there. */
interface ExperimentSite extends AutoCloseable {

    /** One server, which the site stops in the end; clients connect to its address. */
    static ExperimentSite of(RedisServer server) {
        return new ExperimentSite() {
            @Override
            public RedissonClient connect() {
                return TestConnections.open(server.address());
            }

            @Override
            public String watched() {
                return server.address();
            }

            @Override
            public void close() {
                server.close();
            }
        };
    }

    /** A new client with connections that no fault of the experiment's proxies reaches. The caller shuts it down. */
    RedissonClient connect();

    /** The options of a client of the delay queue. */
    default ClientOptions options() {
        return Experiment.OPTIONS;
    }

    /** A client of the delay queue. The caller closes it. */
    default DelayQueueClient open(RedissonClient connected) {
        return DelayQueueClient.create(connected, options());
    }

    /** The queue that the experiment is about, as a client sees it. */
    default DelayQueue queue(DelayQueueClient client) {
        return client.queue(Experiment.QUEUE);
    }

    /** All queues of the experiment, that one first. */
    default List<DelayQueue> queues(DelayQueueClient client) {
        return List.of(queue(client));
    }

    /** The visibility timeout of all consumers. */
    default Duration lease() {
        return Experiment.LEASE;
    }

    /** The address of the only server, where a standstill can cost a lease; null where there are several. */
    default String watched() {
        return null;
    }

    /** Stops the servers. */
    @Override
    void close();
}
