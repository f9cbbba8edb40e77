// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.faults.PowerCut.Binary;
import io.github.redisdelay.faults.ServerFaultsIT.Fault;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The server's machine loses its power: what was confirmed as on disk is there afterwards, and the client refuses to
 * confirm that where it is not.
 */
@Tag("faults")
class PowerCutIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Durability ON_DISK = new Durability(0, true, Duration.ofMillis(2500));
    private static final Duration LOAD = Duration.ofSeconds(3);
    /** Redis begins an fsync each second, and waits for up to two for one that lasts; one more for a busy machine. */
    private static final Duration EVERYSEC = Duration.ofSeconds(3);
    /** How many schedules, or connections with a plain WAITAOF, wait for an answer at a time. */
    private static final int WINDOW = 1000;

    private static final int CONNECTIONS = 32;

    static List<Binary> servers() throws Exception {
        return PowerCut.servers();
    }

    /** The confirmed ones with the time of the confirmation, of all cuts, and those that were lost. */
    private static final class Cuts {
        final Map<String, Long> confirmed = new HashMap<>();
        final Map<String, Long> lost = new HashMap<>();
        private long tried;

        /** @param confirmed in one load, with {@link System#nanoTime}; the lost ones get their age at the cut */
        void add(Map<String, Long> confirmed, Set<String> kept, long cut) {
            tried++;
            this.confirmed.putAll(confirmed);
            confirmed.forEach((id, nanos) -> {
                if (!kept.contains(id)) {
                    lost.put(id, cut - nanos);
                }
            });
        }

        Cuts told(String name) {
            Experiment.row("power cut, " + name, (int) tried, confirmed.size(), 0, lost.size(), 0, null);
            return this;
        }
    }

    private static int cuts() {
        return 2 * Experiment.rounds();
    }

    private static ClientOptions options(Durability durability) {
        return ClientOptions.DEFAULTS.withRequestTimeout(TIMEOUT).withDurability(durability);
    }

    private static ScheduleRequest inAnHour(String id) {
        return ScheduleRequest.of(id, new byte[200], DueTime.after(Duration.ofHours(1)));
    }

    private static void load() {
        await().pollDelay(LOAD).atMost(LOAD.plusSeconds(60)).until(() -> true);
    }

    /** Schedules all the time, cuts the power, and looks what is left. */
    private static Cuts schedule(RedisServer server, Durability durability) throws Exception {
        Cuts cuts = new Cuts();
        for (int cut = 0; cut < cuts(); cut++) {
            Map<String, Long> confirmed = new ConcurrentHashMap<>();
            Semaphore window = new Semaphore(WINDOW);
            RedissonClient redisson = TestConnections.open(server.address());
            ExecutorService producer = Executors.newSingleThreadExecutor();
            DelayQueueClient client = DelayQueueClient.create(redisson, options(durability));
            long at;
            try {
                DelayQueue queue = client.queue(Experiment.QUEUE);
                String prefix = cut + "-";
                producer.submit(() -> {
                    for (int number = 0; !Thread.currentThread().isInterrupted(); number++) {
                        window.acquire();
                        String id = prefix + number;
                        queue.schedule(inAnHour(id)).result().whenComplete((result, error) -> {
                            if (error == null) {
                                confirmed.put(id, System.nanoTime());
                            }
                            window.release();
                        });
                    }
                    return null;
                });
                load();
                at = System.nanoTime();
                server.kill();
            } finally {
                producer.shutdownNow();
                client.close(Duration.ofMillis(1));
                redisson.shutdown();
            }
            assertThat(producer.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
            server.start();
            cuts.add(confirmed, names(server, "HKEYS redis-delay:{" + Experiment.QUEUE + "}:messages"), at);
        }
        assertThat(cuts.confirmed).as("confirmed messages").hasSizeGreaterThan(100);
        return cuts;
    }

    private static Set<String> names(RedisServer server, String command) throws IOException {
        try (RedisSocket socket = RedisSocket.open(server.address())) {
            return new HashSet<>(socket.texts(command));
        }
    }

    /** The same with the server's own commands, whatever the client thinks of it. */
    private static Cuts waitaof(RedisServer server) throws Exception {
        Cuts cuts = new Cuts();
        for (int cut = 0; cut < cuts(); cut++) {
            Map<String, Long> confirmed = new ConcurrentHashMap<>();
            ExecutorService callers = Executors.newFixedThreadPool(CONNECTIONS);
            for (int caller = 0; caller < CONNECTIONS; caller++) {
                String prefix = "plain-" + cut + "-" + caller + "-";
                callers.submit(() -> {
                    try (RedisSocket socket = RedisSocket.open(server.address())) {
                        for (int number = 0; "+OK".equals(socket.call("SET " + prefix + number + " x")); number++) {
                            socket.call("WAITAOF 1 0 2500");
                            if (":1".equals(socket.next())) {
                                confirmed.put(prefix + number, System.nanoTime());
                            }
                            socket.next();
                        }
                    }
                    return null;
                });
            }
            load();
            long at = System.nanoTime();
            server.kill();
            callers.shutdown();
            assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
            server.start();
            cuts.add(confirmed, names(server, "KEYS plain-*"), at);
        }
        assertThat(cuts.confirmed).as("keys that the server says are on disk").hasSizeGreaterThan(CONNECTIONS);
        return cuts;
    }

    @ParameterizedTest
    @MethodSource("servers")
    void should_lose_nothing_where_each_write_is_synced(Binary binary) throws Exception {
        try (RedisServer server = PowerCut.start(binary, "always")) {
            assertThat(schedule(server, Durability.NONE).told("appendfsync always, " + binary).lost)
                    .isEmpty();
        }
    }

    /** Also shows that these cuts can lose something. */
    @ParameterizedTest
    @MethodSource("servers")
    void should_lose_the_last_seconds_only_where_nobody_waits_for_the_sync(Binary binary) throws Exception {
        try (RedisServer server = PowerCut.start(binary, "everysec")) {
            Cuts cuts = schedule(server, Durability.NONE).told("appendfsync everysec, " + binary);
            assertThat(cuts.lost).as("lost by a power cut").isNotEmpty();
            assertThat(cuts.lost.values())
                    .as("since when a lost one was confirmed")
                    .allSatisfy(age -> assertThat(age).isLessThan(EVERYSEC.toNanos()));
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void should_lose_nothing_that_was_waited_for_and_refuse_to_wait_where_the_server_loses(Binary binary)
            throws Exception {
        for (String appendfsync : List.of("always", "everysec", "no")) {
            try (RedisServer server = PowerCut.start(binary, appendfsync)) {
                String name = "appendfsync " + appendfsync + ", ";
                boolean keeps = MasterAndReplica.knows(server, "waitaof")
                        && !appendfsync.equals("no")
                        && waitaof(server)
                                .told(name + "plain WAITAOF, " + binary)
                                .lost
                                .isEmpty();
                assertThat(isWaitedFor(server)).as(name + binary).isEqualTo(keeps);
                if (keeps) {
                    assertThat(schedule(server, ON_DISK).told(name + "waitForDisk=true, " + binary).lost)
                            .isEmpty();
                    assertSufficesForAUser(server);
                }
            }
        }
    }

    private static boolean isWaitedFor(RedisServer server) throws Exception {
        RedissonClient redisson = TestConnections.open(server.address());
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options(ON_DISK))) {
            client.checkDurability(Experiment.QUEUE).get(20, TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            assertThat(e.getCause()).hasMessageContaining("Redis cannot wait for its disk (waitForDisk)");
            return false;
        } finally {
            redisson.shutdown();
        }
    }

    /** The user of the page with the commands that the page names for this. */
    private static void assertSufficesForAUser(RedisServer server) throws Exception {
        PermissionsIT.User user = PermissionsIT.User.ofThePage();
        user.create(server);
        String more = "ACL SETUSER " + user.name() + " +waitaof +config|get";
        assertThat(PermissionsIT.call(server.address(), more)).isEqualTo("+OK");
        Config config = new Config();
        // Redisson 3 has these settings only here.
        config.useSingleServer()
                .setAddress(server.address())
                .setUsername(user.name())
                .setPassword(user.password());
        RedissonClient redisson = Redisson.create(config);
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options(ON_DISK))) {
            client.queue(Experiment.QUEUE)
                    .schedule(inAnHour("of a user"))
                    .result()
                    .get(20, TimeUnit.SECONDS);
        } finally {
            redisson.shutdown();
        }
        assertThat(PermissionsIT.denied(server.address())).as("what was denied").isEmpty();
    }

    static List<Object[]> serversAndFaults() throws Exception {
        List<Object[]> both = new ArrayList<>();
        for (Binary binary : servers()) {
            both.add(new Object[] {binary, Fault.SHUT_DOWN});
            both.add(new Object[] {binary, Fault.KILLED});
        }
        return both;
    }

    /** The lines of the table that name the fsync. */
    @ParameterizedTest
    @MethodSource("serversAndFaults")
    void should_go_on_as_after_a_restart(Binary binary, Fault fault) throws Exception {
        String name = fault.name + ", unsynced writes are lost, " + binary;
        ServerFaultsIT.run(fault, name, PowerCut.start(binary, "always"));
    }
}
