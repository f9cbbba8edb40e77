// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import org.redisson.api.RedissonClient;

/** A server whose clock the test steps, for those who are connected through the site. */
final class SteppedServer implements ExperimentSite {

    static final Duration STEP = Duration.ofMinutes(10);

    /** By how many seconds the clock is ahead. Deleted in the end: it is not among the queue's keys. */
    private static final String KEY = "clock-is-ahead";

    private final RedisServer server = RedisServer.dedicated();
    /** Used by the test's thread only. */
    private long ahead;

    @Override
    public RedissonClient connect() {
        return TestConnections.open(server.address());
    }

    @Override
    public DelayQueueClient open(RedissonClient connected) {
        return TestClients.onSteppedClock(connected, options(), KEY);
    }

    void step(Duration by) throws IOException {
        ahead += by.toSeconds();
        call("SET " + KEY + " " + ahead, "+OK");
    }

    /** When all clients of the clock have ended, or it is right. */
    void forget() throws IOException {
        call("DEL " + KEY, ":1");
    }

    private void call(String command, String answer) throws IOException {
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            assertThat(direct.call(command)).isEqualTo(answer);
        }
    }

    @Override
    public String watched() {
        return server.address();
    }

    @Override
    public void close() {
        server.close();
    }

    /** Steps forward under load. */
    void forward(Experiment experiment, String name) throws Exception {
        step(experiment, name, STEP);
        experiment.healed();
    }

    /** A step after which leases may end early, for as long as one lasts. */
    void step(Experiment experiment, String name, Duration by) throws Exception {
        experiment.history.faultBegins(name);
        experiment.history.clockSteps(by);
        step(by);
        experiment.run(Experiment.LEASE);
        experiment.history.faultEnds(name);
    }
}
