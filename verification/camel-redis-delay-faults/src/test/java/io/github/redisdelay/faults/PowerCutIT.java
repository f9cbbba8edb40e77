// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.faults.PowerCut.Binary;
import io.github.redisdelay.faults.ServerFaultsIT.Fault;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Machines lose their power under load: what was promised is there afterwards. The client refuses to confirm that
 * something is on disk exactly where the server's answer proves nothing.
 *
 * <p>The short form has a few promises only.
 */
@Tag("faults")
class PowerCutIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final Path TABLE = Path.of("target", "powercuts.md");
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Durability ON_DISK = new Durability(0, true, Duration.ofMillis(2500));
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Connections with a plain WAITAOF. */
    private static final int CONNECTIONS = 32;

    private static final long SEED = Long.getLong("faults.seed", System.nanoTime());
    private static final boolean LONG = PowerCut.isLong();

    /**
     * A promise that is tried on a server.
     *
     * @param appendfsync that of the promise, or another one, with which it must not hold
     */
    record Trial(Binary binary, PowerCutPromise promise, String appendfsync) {

        @Override
        public String toString() {
            return binary + ", " + promise.outage.name + ", appendfsync " + appendfsync + " " + promise.options();
        }
    }

    private static List<Binary> servers;
    private static SideBySide<Trial> experiments;
    /** What came out, as cells of the table. */
    private static final Map<Trial, String> RESULTS = new ConcurrentHashMap<>();

    @BeforeAll
    static void begin() throws Exception {
        PowerCut.prepare();
        servers = PowerCut.servers();
        LOG.info("power cuts: -Dfaults.seed={} -Dfaults.rounds={}", SEED, Experiment.rounds());
        experiments = new SideBySide<>(4, Stream.concat(trials(), withoutSync()).toList(), PowerCutIT::run);
    }

    @AfterAll
    static void end() throws IOException {
        if (experiments != null) { // else something for it is missing
            experiments.close();
            Files.writeString(TABLE, table());
        }
    }

    static List<Binary> servers() {
        return servers;
    }

    static Stream<Trial> trials() {
        List<PowerCutPromise> promises = LONG
                ? List.of(PowerCutPromise.values())
                : List.of(PowerCutPromise.TORN_ALWAYS, PowerCutPromise.ONE_EVERYSEC);
        return servers.stream().flatMap(binary -> promises.stream().map(promise -> trial(binary, promise)));
    }

    /** Promises that must not hold where nothing is synced. */
    static Stream<Trial> withoutSync() {
        return (LONG
                        ? Stream.of(
                                PowerCutPromise.ONE_ALWAYS,
                                PowerCutPromise.SENTINEL_ALL_ALWAYS,
                                PowerCutPromise.NODE_ALWAYS,
                                PowerCutPromise.CLUSTER_ALL_ALWAYS)
                        : Stream.of(PowerCutPromise.ONE_ALWAYS))
                .map(promise -> new Trial(servers.get(0), promise, "no"));
    }

    private static Trial trial(Binary binary, PowerCutPromise promise) {
        return new Trial(binary, promise, promise.appendfsync);
    }

    private static String table() {
        StringBuilder table = new StringBuilder("| power cut | `appendfsync` | options | may be lost |");
        servers.forEach(binary -> table.append(' ').append(binary).append(" |"));
        table.append("\n|---|---|---|---|")
                .append("---|".repeat(servers.size()))
                .append('\n');
        for (PowerCutPromise promise : PowerCutPromise.values()) {
            List<String> cells = servers.stream()
                    .map(binary -> RESULTS.get(trial(binary, promise)))
                    .toList();
            if (cells.stream().anyMatch(cell -> cell != null)) {
                table.append("| ").append(promise.outage.name).append(" | ").append(promise.appendfsync);
                table.append(" | ")
                        .append(promise.options())
                        .append(" | ")
                        .append(promise.kept.mayBeLost)
                        .append(" |");
                cells.forEach(cell ->
                        table.append(' ').append(cell == null ? "–" : cell).append(" |"));
                table.append('\n');
            }
        }
        return table.toString();
    }

    // ---- promises

    @ParameterizedTest
    @MethodSource("trials")
    void should_lose_no_more_than_the_documentation_says(Trial trial) throws Exception {
        experiments.result(trial);
    }

    private static void run(Trial trial) throws Exception {
        PowerCutPromise promise = trial.promise;
        PowerCutTally tally = tally(trial.binary, promise, trial.appendfsync);
        String where = "";
        if (tally == null && promise.outage != PowerOutage.ONE_SERVER) {
            // On this server it may be promised with the stronger setting.
            tally = tally(trial.binary, promise, "always");
            where = "always: ";
        }
        RESULTS.put(trial, tally == null ? "refused" : where + tally);
        LOG.info("power cut, {}: {}", trial, RESULTS.get(trial));
        if (tally == null) {
            return;
        }
        assertThat(tally.confirmed()).as("confirmed changes").isGreaterThan(10);
        if (trial.appendfsync.equals("no")) {
            PowerCutTally lost = tally;
            assertThatThrownBy(() -> promise.kept.judge(lost)).isInstanceOf(AssertionError.class);
            return;
        }
        promise.kept.judge(tally);
    }

    /** Some cuts, each of servers of its own; null if the client refuses to wait. */
    private static PowerCutTally tally(Binary binary, PowerCutPromise promise, String appendfsync) throws Exception {
        PowerCutTally all = PowerCutTally.NONE;
        for (int round = 0; round < Experiment.rounds(); round++) {
            Random random = new Random(SEED + round);
            try (PowerOutage.Servers servers =
                    promise.outage.start(binary, "appendonly yes", "appendfsync " + appendfsync)) {
                if (promise.durability.disk() && !isWaitedFor(servers, promise.durability)) {
                    return null;
                }
                all = all.plus(cut(servers, promise, random));
            }
        }
        return all;
    }

    private static PowerCutTally cut(PowerOutage.Servers servers, PowerCutPromise promise, Random random)
            throws Exception {
        List<String> queues = servers.queues();
        ClientOptions options = options(promise.durability);
        PowerCutLoad load = new PowerCutLoad(servers.connect(), options, queues, "m");
        long at;
        try {
            awaitConfirmation(load);
            // At any time between two syncs; a wait for the disks of two servers takes up to two seconds.
            long least = promise.durability.disk() ? 5000 : LONG ? 2000 : 1200;
            load(Duration.ofMillis(least + random.nextInt(LONG ? 2000 : 500)), servers);
            awaitConfirmation(load); // on a busy machine the last one may be long ago
            at = System.nanoTime();
            servers.cut();
        } finally {
            load.close();
        }
        servers.recover();
        RedissonClient redisson = servers.connect();
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options(Durability.NONE))) {
            for (String queue : queues) {
                CheckResult check = client.queue(queue).admin().check().get(60, TimeUnit.SECONDS);
                assertThat(check).as("what is to be mended").isEqualTo(new CheckResult(check.messages(), 0, 0, 0));
            }
            return load.tally(PowerCutLoad.stored(redisson, queues), at);
        } finally {
            redisson.shutdown();
        }
    }

    private static void load(Duration duration, PowerOutage.Servers servers) throws IOException {
        long end = System.nanoTime() + duration.toNanos();
        while (System.nanoTime() - end < 0) {
            servers.disturb();
            pass(Duration.ofMillis(100));
        }
    }

    private static void awaitConfirmation(PowerCutLoad load) {
        int before = load.confirmed();
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> load.confirmed() > before);
    }

    private static void pass(Duration time) {
        await().pollDelay(time).atMost(time.plus(PATIENCE)).until(() -> true);
    }

    private static ClientOptions options(Durability durability) {
        return ClientOptions.DEFAULTS.withRequestTimeout(TIMEOUT).withDurability(durability);
    }

    /** Shows that the judge sees a loss. */
    @ParameterizedTest
    @MethodSource("withoutSync")
    void should_see_a_loss_where_nothing_is_synced(Trial trial) throws Exception {
        experiments.result(trial);
    }

    // ---- the server's WAITAOF

    private static Set<String> names(RedisServer server, String command) throws IOException {
        try (RedisSocket socket = RedisSocket.open(server.address())) {
            return new HashSet<>(socket.texts(command));
        }
    }

    /** The server's own commands, whatever the client thinks of them. */
    private static PowerCutTally waitaof(RedisServer server) throws Exception {
        Map<String, Long> confirmed = new ConcurrentHashMap<>();
        ExecutorService callers = Executors.newFixedThreadPool(CONNECTIONS);
        for (int caller = 0; caller < CONNECTIONS; caller++) {
            String prefix = "plain-" + caller + "-";
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
        pass(Duration.ofSeconds(3));
        long at = System.nanoTime();
        server.kill();
        callers.shutdown();
        assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        server.start();
        Set<String> kept = names(server, "KEYS plain-*");
        PowerCutTally tally = new PowerCutTally(1, confirmed.size(), 0, Long.MIN_VALUE);
        for (Map.Entry<String, Long> key : confirmed.entrySet()) {
            tally = kept.contains(key.getKey()) ? tally : tally.withLost(at - key.getValue());
        }
        assertThat(tally.confirmed())
                .as("keys that the server says are on disk")
                .isGreaterThan(CONNECTIONS);
        return tally;
    }

    @ParameterizedTest
    @MethodSource("servers")
    void should_refuse_to_wait_for_a_disk_exactly_where_the_server_answers_too_early(Binary binary) throws Exception {
        for (String appendfsync : List.of("always", "everysec", "no")) {
            try (RedisServer server = start(binary, appendfsync)) {
                boolean keeps = false;
                if (MasterAndReplica.knows(server, "waitaof") && !appendfsync.equals("no")) {
                    PowerCutTally tally = PowerCutTally.NONE;
                    for (int round = 0; round < Experiment.rounds(); round++) {
                        tally = tally.plus(waitaof(server));
                    }
                    LOG.info("power cut, {}, appendfsync {}, plain WAITAOF: {}", binary, appendfsync, tally);
                    keeps = tally.lost() == 0;
                }
                assertThat(isWaitedFor(server)).as(appendfsync + ", " + binary).isEqualTo(keeps);
                if (keeps) {
                    assertSufficesForAUser(server);
                }
            }
        }
    }

    private static RedisServer start(Binary binary, String appendfsync) throws Exception {
        return RedisServer.process(PowerCut.program(binary), "appendonly yes", "appendfsync " + appendfsync);
    }

    private static boolean isWaitedFor(RedisServer server) throws Exception {
        return isWaitedFor(TestConnections.open(server.address()), Experiment.QUEUE, ON_DISK);
    }

    private static boolean isWaitedFor(PowerOutage.Servers servers, Durability durability) throws Exception {
        return isWaitedFor(servers.connect(), servers.queues().get(0), durability);
    }

    private static boolean isWaitedFor(RedissonClient redisson, String queue, Durability durability) throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redisson, options(durability))) {
            client.checkDurability(queue).get(20, TimeUnit.SECONDS);
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
                    .schedule(ScheduleRequest.of("of a user", new byte[200], DueTime.after(Duration.ofHours(1))))
                    .result()
                    .get(20, TimeUnit.SECONDS);
        } finally {
            redisson.shutdown();
        }
        assertThat(PermissionsIT.denied(server.address())).as("what was denied").isEmpty();
    }

    // ---- what else goes on

    static List<Object[]> serversAndFaults() {
        List<Object[]> both = new ArrayList<>();
        for (Binary binary : servers) {
            both.add(new Object[] {binary, Fault.SHUT_DOWN});
            both.add(new Object[] {binary, Fault.KILLED});
        }
        return both;
    }

    /** The lines of the table that name the fsync. */
    @ParameterizedTest
    @MethodSource("serversAndFaults")
    void should_go_on_as_after_a_restart(Binary binary, Fault fault) throws Exception {
        assumeTrue(Experiment.rounds() > 1, "in the long form only");
        String name = fault.name + ", unsynced writes are lost, " + binary;
        ServerFaultsIT.run(fault, name, start(binary, "always"));
    }
}
