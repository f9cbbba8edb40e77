// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.internal.redis.DurableReply;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.MasterAndReplica;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Changes wait for replicas, and nothing else does. */
@Timeout(120)
class DurabilityIT {

    private static final Duration SHORT = Duration.ofMillis(300);

    private static MasterAndReplica servers;
    private static RedissonClient redisson;
    private static int queues;

    private DelayQueueClient client;
    private DelayQueue queue;

    @BeforeAll
    static void start() {
        servers = new MasterAndReplica();
        redisson = TestConnections.open(servers.master.address());
    }

    @AfterAll
    static void stop() {
        redisson.shutdown();
        servers.close();
    }

    @BeforeEach
    void open() {
        use(options(Durability.replicas(1)));
    }

    @AfterEach
    void close() {
        client.close();
    }

    private static ClientOptions options(Durability durability) {
        return ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(20)).withDurability(durability);
    }

    private void use(ClientOptions options) {
        if (client != null) {
            client.close();
        }
        client = DelayQueueClient.create(redisson, options);
        queue = client.queue("q" + ++queues);
    }

    private Submission<ScheduleResult> schedule(String id) {
        return queue.schedule(ScheduleRequest.of(id, new byte[] {1}, DueTime.after(Duration.ofHours(1))));
    }

    private static <T> T get(Submission<T> sent) throws Exception {
        return get(sent.result());
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<?> future) {
        return catchThrowableOfType(ExecutionException.class, () -> get(future)).getCause();
    }

    @Test
    void should_be_done_when_a_replica_has_it() throws Exception {
        try (DelayQueueClient other = DelayQueueClient.create(redisson, options(Durability.replicas(1)))) {
            // Scripts that the server does not know are sent twice, each time with a wait.
            get(other.queue("warm").schedule(ScheduleRequest.of("a", new byte[1], DueTime.after(Duration.ofHours(1)))));
            get(other.queue("warm").cancel("a"));
        }
        long waits = MasterAndReplica.calls(servers.master, "wait");
        assertThat(get(schedule("a")).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(get(queue.reschedule("a", DueTime.after(Duration.ofHours(2))))
                        .previousState())
                .isEqualTo(MessageState.DELAYED);
        assertThat(get(queue.admin().pause())).isTrue();
        assertThat(get(queue.cancel("a")).previousState()).isEqualTo(MessageState.DELAYED);
        // One to see whether it is possible, and one for each.
        assertThat(MasterAndReplica.calls(servers.master, "wait") - waits).isEqualTo(5);
    }

    @Test
    void should_say_that_it_is_stored_and_not_replicated_and_wait_again() throws Exception {
        use(options(new Durability(1, false, SHORT)));
        servers.disconnect();
        Submission<ScheduleResult> sent;
        try {
            sent = schedule("a");
            Throwable error = failure(sent.result());
            assertThat(error)
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessage("queue '" + queue.name()
                            + "': message 'a' is stored, not known to be replicated: 0 of 1 replicas within 300 ms");
            ReplicationTimeoutException known = (ReplicationTimeoutException) error;
            assertThat(known.getResult())
                    .isInstanceOfSatisfying(ScheduleResult.class, result -> assertThat(result.outcome())
                            .isEqualTo(ScheduleOutcome.SCHEDULED));
            assertThat(known.getReplicas()).isZero();
            assertThat(known.getRequiredReplicas()).isEqualTo(1);
            assertThat(sent.isUnconfirmed()).isTrue();
            assertThat(failure(sent.outcome())).isSameAs(error);
            assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1);

            for (int i = 0; i < 2; i++) {
                assertThat(failure(sent.confirm()))
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessage(error.getMessage());
            }
        } finally {
            servers.connect();
        }
        // Also if the message is not there any more: it is the request that was executed once.
        eventually(() -> queue.cancel("a").result());
        assertThat(eventually(sent::confirm))
                .isSameAs(((ReplicationTimeoutException) failure(sent.result())).getResult());
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    @Test
    void should_say_so_of_every_change() throws Exception {
        get(schedule("a"));
        get(schedule("b"));
        get(queue.schedule(ScheduleRequest.of("c", new byte[] {1}, DueTime.after(Duration.ofHours(1)))
                .withGroup("g")));
        use2(new Durability(1, false, SHORT));
        servers.disconnect();
        try {
            assertThat(failure(queue.cancel("a").result()))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("the change of message 'a' was made, not known to be replicated: 0 of 1");
            assertThat(failure(queue.admin().pause().result()))
                    .hasMessageContaining("the change of the queue was made, not known");
            assertThat(failure(queue.group("g").pause(DueTime.after(SHORT)).result()))
                    .isInstanceOf(ReplicationTimeoutException.class);
            assertThat(failure(queue.group("g").cancelAll(false, true)))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("the change of message 'c' was made, not known");
            assertThat(failure(queue.admin().promoteAll(each -> true, Long.MAX_VALUE)))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("the change of message 'b' was made, not known");
            // Nothing is left to be changed, and what was changed before is still on one server only.
            assertThat(failure(queue.admin().promoteAll(each -> true, Long.MAX_VALUE)))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("the changes of 0 messages were made, not known");
        } finally {
            servers.connect();
        }
        assertThat(eventually(() -> queue.admin().promoteAll(each -> true, Long.MAX_VALUE)))
                .isZero();
    }

    private Submission<ScheduleResult> declare(Duration interval) {
        return queue.schedule(ScheduleRequest.of("s", new byte[] {1}, DueTime.after(interval))
                .recurring(Schedule.every(interval), 0));
    }

    @Test
    void should_wait_for_a_recurring_schedule_each_time_that_it_is_declared() throws Exception {
        assertThat(get(declare(Duration.ofHours(1))).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        use2(new Durability(1, false, SHORT));
        servers.disconnect();
        try {
            for (int i = 0; i < 2; i++) {
                assertThat(failure(declare(Duration.ofHours(2)).result()))
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessageContaining("message 's' is stored, not known to be replicated: 0 of 1");
            }
        } finally {
            servers.connect();
        }
        assertThat(eventually(() -> declare(Duration.ofHours(2)).result()).outcome())
                .isEqualTo(ScheduleOutcome.IGNORED);
        assertThat(get(queue.get("s")).orElseThrow().info().rule()).isEqualTo("every 2h");
    }

    @Test
    void should_consume_by_limits_of_which_nobody_knows_whether_they_are_replicated() throws Exception {
        get(queue.schedule(ScheduleRequest.of("a", new byte[] {1}, DueTime.now())));
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        use2(new Durability(1, false, SHORT));
        servers.disconnect();
        try {
            queue.consume(
                    ConsumerOptions.DEFAULTS.withLimits(new QueueLimits(1, true, null, null, 1)),
                    Runnable::run,
                    new DeliveryHandler() {
                        @Override
                        public void handle(Delivery delivery) {
                            delivery.settle(Settlement.ACKNOWLEDGE);
                            told.add(delivery.id());
                        }

                        @Override
                        public void limited(QueueLimits before, Throwable error) {
                            told.add("limited, " + error);
                            throw new IllegalStateException("a listener must not stop the consumer");
                        }
                    });
            assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("limited, null");
            assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo("a");
        } finally {
            servers.connect();
        }
    }

    @Test
    void should_count_dead_letters_that_are_dropped_and_not_known_to_be_replicated() throws Exception {
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        DelayQueueConsumer consumer = queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, received::add);
        for (String id : List.of("a", "b", "c")) {
            get(queue.schedule(ScheduleRequest.of(id, new byte[] {1}, DueTime.now())));
            get(received.poll(30, TimeUnit.SECONDS).settle(new Settlement.DeadLetter(new byte[0])));
        }
        get(consumer.stop(false));
        use2(new Durability(1, false, SHORT));
        servers.disconnect();
        try {
            assertThat(get(queue.admin().trimDeadLetters(Duration.ZERO, 1))).isEqualTo(2);
            assertThat(get(queue.admin().stats()).dead()).isOne();
        } finally {
            servers.connect();
        }
    }

    /** On a busy machine a replica may need longer than the short time that these clients wait. */
    private static <T> T eventually(Supplier<? extends CompletableFuture<T>> request) {
        return await().ignoreExceptionsMatching(error -> error instanceof ReplicationTimeoutException
                        || error.getCause() instanceof ReplicationTimeoutException)
                .atMost(Duration.ofSeconds(30))
                .until(() -> get(request.get()), result -> true);
    }

    /** Other options for the same queue. */
    private void use2(Durability durability) {
        String name = queue.name();
        use(options(durability));
        queue = client.queue(name);
    }

    @Test
    void should_wait_once_for_all_that_go_together() throws Exception {
        use(options(new Durability(1, false, Duration.ofSeconds(2))));
        get(schedule("first"));
        long waits = MasterAndReplica.calls(servers.master, "wait");
        servers.disconnect();
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        try {
            // The first one waits for two seconds; the others come meanwhile.
            for (int i = 0; i < 100; i++) {
                sent.add(schedule("a" + i));
            }
            for (Submission<ScheduleResult> each : sent) {
                assertThat(failure(each.result())).isInstanceOf(ReplicationTimeoutException.class);
            }
            assertThat(MasterAndReplica.calls(servers.master, "wait") - waits)
                    .as("waits for 100 messages in two calls at a time")
                    .isLessThanOrEqualTo(2 * RequestRouter.CALLS);
            // And so do those who wait again.
            waits = MasterAndReplica.calls(servers.master, "wait");
            List<CompletableFuture<ScheduleResult>> again =
                    sent.stream().map(Submission::confirm).toList();
            for (CompletableFuture<ScheduleResult> each : again) {
                assertThat(failure(each)).isInstanceOf(ReplicationTimeoutException.class);
            }
            assertThat(MasterAndReplica.calls(servers.master, "wait") - waits).isLessThanOrEqualTo(2);
        } finally {
            servers.connect();
        }
        for (Submission<ScheduleResult> each : sent) {
            assertThat(get(each.confirm()).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        }
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(101);
    }

    @Test
    void should_not_hold_up_deliveries_nor_those_who_do_not_wait() throws Exception {
        Config patient = new Config();
        // The pings of this connection do not end the wait.
        patient.useSingleServer().setAddress(servers.master.address()).setPingConnectionInterval(0);
        RedissonClient shared = Redisson.create(patient);
        try {
            shouldNotHoldUpOthersOf(shared);
        } finally {
            shared.shutdown();
        }
    }

    private void shouldNotHoldUpOthersOf(RedissonClient shared) throws Exception {
        client.close();
        client = DelayQueueClient.create(shared, options(new Durability(1, false, Duration.ofSeconds(15))));
        queue = client.queue("q" + ++queues);
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        get(schedule("a"));
        get(schedule("b"));
        queue.consume(ConsumerOptions.DEFAULTS, Runnable::run, received::add);
        servers.disconnect();
        try (DelayQueueClient other = DelayQueueClient.create(shared, ClientOptions.DEFAULTS)) {
            Submission<ScheduleResult> waiting = schedule("c");
            await().until(() -> get(other.queue(queue.name()).admin().stats()).delayed() == 3);
            for (String id : List.of("a", "b")) {
                get(other.queue(queue.name()).promote(id));
                Delivery delivery = received.poll(10, TimeUnit.SECONDS);
                assertThat(delivery.id()).isEqualTo(id);
                assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
            }
            assertThat(waiting.result()).as("waits for a replica").isNotDone();
        } finally {
            servers.connect();
            client.close();
        }
    }

    @Test
    void should_refuse_to_wait_for_longer_than_a_connection_may_be_silent() throws Exception {
        use(options(new Durability(1, false, Duration.ofSeconds(5))));
        assertThat(failure(schedule("a").result()))
                .isInstanceOf(DelayQueueException.class)
                .hasMessageContaining("queue '" + queue.name()
                        + "': the wait for replicas or the disk (replicationTimeout) is 5000 ms, nothing was changed:"
                        + " it must be shorter than 3000 ms");
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    @Test
    void should_not_take_a_repeated_call_for_replicated() throws Exception {
        ScriptExecutor redis = new RedissonScriptExecutor(redisson);
        QueueKeys keys = QueueKeys.of("redis-delay", queue.name());
        Object[] arguments = scheduling("a", "session", keys);
        Durability wanted = new Durability(1, false, SHORT);
        // Connected: to a server that counts only what a connection has written itself, nothing is missing there.
        servers.freeze();
        try {
            byte[] first = (byte[]) get(redis.call(
                    LuaScript.SCHEDULE, keys.of(LuaScript.SCHEDULE), arguments, RedissonScriptExecutor.TIMEOUT_STEPS));
            DurableReply repeated = get(redis.callDurably(LuaScript.SCHEDULE, keys, arguments, 2, wanted));
            assertThat((byte[]) repeated.reply()).as("the stored answer").isEqualTo(first);
            assertThat(repeated.unmet().replicas()).isZero();
            assertThat(MasterAndReplica.info(servers.master, "replication"))
                    .contains("master_replid:" + repeated.unmet().history());
        } finally {
            servers.thaw();
        }
        Durability patient = new Durability(1, false, Duration.ofMillis(2500));
        assertThat(get(redis.callDurably(LuaScript.SCHEDULE, keys, arguments, 3, patient))
                        .unmet())
                .isNull();
    }

    private static Object[] scheduling(String id, String session, QueueKeys keys) {
        return new Object[] {
            bytes(session),
            bytes("10"),
            bytes(keys.base()),
            bytes(id),
            bytes("after reject"),
            bytes("1000"),
            new byte[0],
            new byte[1]
        };
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void should_notice_nothing_when_the_scripts_are_forgotten() throws Exception {
        use(options(new Durability(1, false, Duration.ofSeconds(2))));
        for (int i = 0; i < 3; i++) {
            redisson.getScript(StringCodec.INSTANCE).scriptFlush();
            assertThat(get(schedule("a" + i)).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        }
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(3);
    }

    /** It has no append-only file; before 7.2, or where it is no Valkey, it does not know the command either. */
    @Test
    void should_refuse_before_anything_is_stored_where_the_server_cannot_wait_for_its_disk() throws Exception {
        use(options(new Durability(0, true, SHORT)));
        assertRefusesToWaitForItsDisk(
                servers.master,
                MasterAndReplica.knows(servers.master, "waitaof")
                        ? ": set appendonly yes in the server's configuration"
                        : ": WAITAOF needs Redis 7.2 or Valkey");
    }

    private void assertRefusesToWaitForItsDisk(RedisServer server, String remedy) throws Exception {
        assertThat(failure(schedule("a").result()))
                .isInstanceOf(DelayQueueException.class)
                .isNotInstanceOf(ReplicationTimeoutException.class)
                .hasMessageContaining("queue '" + queue.name()
                        + "': Redis cannot wait for its disk (waitForDisk), nothing was changed" + remedy);
        assertThat(get(queue.admin().stats()).delayed()).isZero();
    }

    /** Redis from 7.2 on, and Valkey, can. The embedded one is older: there only the refusal is tried. */
    @Test
    void should_be_done_when_it_is_on_the_disk_and_say_so_where_the_server_cannot_tell() throws Exception {
        try (RedisServer server = RedisServer.dedicated("appendonly yes", "appendfsync always")) {
            RedissonClient own = TestConnections.open(server.address());
            client.close();
            client = DelayQueueClient.create(own, options(new Durability(0, true, Duration.ofMillis(2500))));
            queue = client.queue("q" + ++queues);
            try {
                if (MasterAndReplica.knows(server, "waitaof")) {
                    assertWaitsForItsDisk(server);
                } else {
                    assertRefusesToWaitForItsDisk(server, ": WAITAOF needs Redis 7.2 or Valkey");
                }
            } finally {
                client.close();
                own.shutdown();
            }
        }
    }

    private void assertWaitsForItsDisk(RedisServer server) throws Exception {
        get(client.checkDurability(queue.name()));
        assertThat(get(schedule("a")).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(get(queue.reschedule("a", DueTime.after(Duration.ofHours(2))))
                        .previousState())
                .isEqualTo(MessageState.DELAYED);
        get(declare(Duration.ofHours(1)));
        // One to see whether it is possible, and one for each; more where Redis had to be sent the script first.
        assertThat(MasterAndReplica.calls(server, "waitaof")).isGreaterThanOrEqualTo(4);
        server.kill();
        server.start();
        assertThat(eventually(() -> queue.get("s")).orElseThrow().info().rule()).isEqualTo("every 1h");
        assertThat(eventually(() -> queue.get("a")).orElseThrow().info().dueMicros())
                .isGreaterThan(System.currentTimeMillis() * 1000
                        + Duration.ofMinutes(90).toNanos() / 1000);

        assertRefusesWhatDoesNotHold(server, "no");
        if (MasterAndReplica.info(server, "server").contains("valkey_version")) {
            assertRefusesWhatDoesNotHold(server, "everysec");
        } else {
            MasterAndReplica.ask(server, "CONFIG SET appendfsync everysec", "+OK");
            assertThat(get(schedule("everysec")).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        }
    }

    /** The policy is changed under a client that was content with it, and changed back. */
    private void assertRefusesWhatDoesNotHold(RedisServer server, String policy) throws Exception {
        MasterAndReplica.ask(server, "CONFIG SET appendfsync " + policy, "+OK");
        Submission<ScheduleResult> sent = schedule("b " + policy);
        String fault = " has appendfsync " + policy
                + ", with which WAITAOF does not prove that a change is on disk: set appendfsync ";
        assertThat(failure(sent.result()))
                .isInstanceOf(ReplicationTimeoutException.class)
                .hasMessageContaining(
                        "message 'b " + policy + "' is stored, not known to be on disk: Redis does not wait for it: ")
                .hasMessageContaining(fault);
        assertThat(failure(sent.confirm()))
                .isInstanceOf(ReplicationTimeoutException.class)
                .hasMessageContaining(fault);
        for (CompletableFuture<?> refused :
                List.of(schedule("c " + policy).result(), client.checkDurability(queue.name()))) {
            assertThat(failure(refused))
                    .isInstanceOf(DelayQueueException.class)
                    .isNotInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining("Redis cannot wait for its disk (waitForDisk), nothing was changed: ")
                    .hasMessageContaining(fault);
        }
        assertThat(get(queue.get("c " + policy))).isEmpty();
        MasterAndReplica.ask(server, "CONFIG SET appendfsync always", "+OK");
        assertThat(eventually(sent::confirm).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(get(schedule("c " + policy)).outcome()).isEqualTo(ScheduleOutcome.SCHEDULED);
    }

    /** Without these commands the client cannot know whether the answer to WAITAOF holds. */
    @ParameterizedTest
    @ValueSource(strings = {"config", "info"})
    void should_refuse_to_wait_for_the_disk_where_the_user_may_not_read_how_it_is_written(String command)
            throws Exception {
        try (RedisServer server = RedisServer.embedded("appendonly yes", "appendfsync always")) {
            new AclUser(server).denies(command);
            RedissonClient user = user(server);
            try (DelayQueueClient waiting = DelayQueueClient.create(user, options(new Durability(0, true, SHORT)))) {
                assertThat(failure(waiting.queue("orders")
                                .schedule(ScheduleRequest.of("a", new byte[1], DueTime.now()))
                                .result()))
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining("nothing was changed: let this user call WAITAOF, CONFIG GET and INFO"
                                + " by these names (ACL: +waitaof +config|get +info)")
                        .hasMessageContaining("NOPERM");
                assertThat(get(waiting.queue("orders").admin().stats()).delayed())
                        .isZero();
            } finally {
                user.shutdown();
            }
        }
    }

    @Test
    void should_refuse_to_wait_for_the_disk_where_CONFIG_has_another_name() throws Exception {
        try (RedisServer server =
                RedisServer.embedded("appendonly yes", "appendfsync always", "rename-command CONFIG secret-config")) {
            RedissonClient own = TestConnections.open(server.address());
            try (DelayQueueClient waiting = DelayQueueClient.create(own, options(new Durability(0, true, SHORT)))) {
                assertThat(failure(waiting.checkDurability("orders")))
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining(
                                "queue 'orders': Redis cannot wait for its disk (waitForDisk), nothing was"
                                        + " changed: let this user call WAITAOF, CONFIG GET and INFO by these names")
                        .hasMessageMatching(".*unknown command ['`]CONFIG['`](?s:.*)");
            } finally {
                own.shutdown();
            }
        }
    }

    /** As a proxy in front of a server may answer. Other commands of the server have the names of those two. */
    @Test
    void should_refuse_to_wait_for_the_disk_of_a_server_whose_INFO_is_empty() throws Exception {
        List<String> settings = new ArrayList<>(List.of(
                "rename-command INFO secret-info",
                "rename-command GETEX INFO",
                "rename-command SMISMEMBER WAITAOF",
                "appendonly yes",
                "appendfsync everysec"));
        try (RedisServer server = RedisServer.embedded()) {
            if (MasterAndReplica.knows(server, "waitaof")) {
                settings.add(0, "rename-command WAITAOF secret-waitaof");
            }
        }
        try (RedisServer server = RedisServer.embedded(settings.toArray(String[]::new))) {
            MasterAndReplica.ask(server, "SET server ''", "+OK");
            MasterAndReplica.ask(server, "SADD 1 0", ":1");
            RedissonClient own = TestConnections.open(server.address());
            try (DelayQueueClient waiting = DelayQueueClient.create(own, options(new Durability(0, true, SHORT)))) {
                assertThat(failure(waiting.checkDurability("orders")))
                        .hasMessageContaining(
                                "nothing was changed: Redis of an unknown version has appendfsync everysec");
            } finally {
                own.shutdown();
            }
        }
    }

    @Test
    void should_refuse_before_anything_is_stored_where_the_user_may_not_wait() throws Exception {
        try (RedisServer server = RedisServer.embedded()) {
            new AclUser(server).denies("wait");
            RedissonClient user = user(server);
            try (DelayQueueClient waiting = DelayQueueClient.create(user, options(Durability.replicas(1)))) {
                assertThat(failure(waiting.queue("orders")
                                .schedule(ScheduleRequest.of("a", new byte[1], DueTime.now()))
                                .result()))
                        .isInstanceOf(DelayQueueException.class)
                        .hasMessageContaining(
                                "Redis cannot wait for its replicas (waitForReplicas), nothing was changed")
                        .hasMessageContaining("NOPERM");
                assertThat(get(waiting.queue("orders").admin().stats()).delayed())
                        .isZero();
            } finally {
                user.shutdown();
            }
        }
    }

    @Test
    void should_undo_nothing_that_was_done_since_where_Redis_does_not_tell_its_history() throws Exception {
        try (DelayQueueClient plain = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            DelayQueue seen = plain.queue(queue.name());
            new AclUser(servers.master).denies("info");
            RedissonClient user = user(servers.master);
            try (DelayQueueClient waiting = DelayQueueClient.create(user, options(new Durability(1, false, SHORT)))) {
                get(schedule("x"));
                DelayQueue own = waiting.queue(queue.name());
                servers.disconnect();
                Submission<ChangeResult> cancelled;
                Submission<ScheduleResult> scheduled;
                try {
                    cancelled = own.cancel("x");
                    scheduled = own.schedule(ScheduleRequest.of("y", new byte[1], DueTime.after(Duration.ofHours(1))));
                    assertThat(failure(cancelled.result())).isInstanceOf(ReplicationTimeoutException.class);
                    assertThat(failure(scheduled.result())).isInstanceOf(ReplicationTimeoutException.class);
                } finally {
                    servers.connect();
                }
                get(schedule("x"));
                // After a while: a replica may need longer than the short time.
                await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(failure(cancelled.confirm()))
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessageContaining("it is unknown whether a failover has undone it"));
                assertThat(get(seen.get("x"))).as("the message of later").isPresent();
                assertThat(failure(scheduled.confirm()))
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessageContaining("it is unknown whether a failover has undone it");
            } finally {
                user.shutdown();
            }
        }
    }

    private static RedissonClient user(RedisServer server) {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(server.address())
                .setUsername("app")
                .setPassword("secret")
                .setConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    /** The marker of the end of a call's writes is refused, and the call itself is not. */
    @Test
    void should_say_that_it_is_stored_also_if_Redis_refuses_what_comes_behind_it() throws Exception {
        new AclUser(servers.master).denies("info");
        RedissonClient user = user(servers.master);
        try (DelayQueueClient waiting =
                DelayQueueClient.create(user, options(new Durability(1, false, Duration.ofMillis(2500))))) {
            DelayQueue own = waiting.queue(queue.name());
            get(own.admin().pause()); // it is known now that Redis waits
            new AclUser(servers.master).denies("wait");
            Submission<ScheduleResult> sent =
                    own.schedule(ScheduleRequest.of("a", new byte[1], DueTime.after(Duration.ofHours(1))));
            assertThat(failure(sent.result()))
                    .isInstanceOf(ReplicationTimeoutException.class)
                    .hasMessageContaining(
                            "message 'a' is stored, not known to be replicated: Redis does not wait for it");
            assertThat(sent.isUnconfirmed()).isTrue();
            assertThat(get(queue.admin().stats()).delayed()).isEqualTo(1);
        } finally {
            user.shutdown();
        }
    }

    /** Says that nothing was replicated in time. Afterwards Redis is asked, and nothing is missing. */
    private static final class Failover implements ScriptExecutor {
        private final ScriptExecutor redis = new RedissonScriptExecutor(redisson);
        volatile boolean replicated;
        /** The history of the master that executes changes. */
        volatile String history = "of a master that died";

        final List<LuaScript> called = new CopyOnWriteArrayList<>();

        @Override
        public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
            called.add(script);
            return redis.call(script, keys, arguments, attempt);
        }

        @Override
        public CompletableFuture<DurableReply> callDurably(
                LuaScript script, QueueKeys keys, Object[] arguments, int attempt, Durability wanted) {
            boolean done = replicated || script == LuaScript.REPLICATION;
            UnmetDurability unmet = done ? null : new UnmetDurability(wanted, 0, false, history, null);
            return call(script, keys.of(script), arguments, attempt).thenApply(reply -> new DurableReply(reply, unmet));
        }
    }

    private Failover failover() {
        client.close();
        Failover failover = new Failover();
        client = ClientAccess.create(redisson, options(Durability.replicas(1)), failover);
        queue = client.queue("q" + ++queues);
        return failover;
    }

    /** Nobody knows what others have done since: a cancel would remove a message that was scheduled anew. */
    @Test
    void should_send_no_change_again_and_say_that_nobody_can_tell() throws Exception {
        Failover failover = failover();
        failover.replicated = true;
        get(queue.schedule(ScheduleRequest.of("dead", new byte[] {1}, DueTime.now())));
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            get(receiver.receive(Duration.ofSeconds(20)).settle(new Settlement.DeadLetter(new byte[0])));
        }
        for (String id : List.of("a", "b", "c", "d")) {
            get(schedule(id));
        }
        failover.replicated = false;
        DueTime later = DueTime.after(Duration.ofHours(2));
        List<Submission<?>> changes = List.of(
                queue.cancel("a"),
                queue.reschedule("b", later),
                queue.promote("c"),
                queue.schedule(ScheduleRequest.of("d", new byte[] {2}, later).withOnDuplicate(DuplicatePolicy.REPLACE)),
                schedule("e"),
                queue.redrive(onlyDeadLetter(), null),
                queue.admin().pause());
        for (Submission<?> change : changes) {
            assertThat(failure(change.result())).isInstanceOf(ReplicationTimeoutException.class);
        }
        failover.called.clear();
        for (int i = 0; i < 2; i++) {
            for (Submission<?> change : changes) {
                Throwable again = failure(change.confirm());
                assertThat(again)
                        .isInstanceOf(ReplicationTimeoutException.class)
                        .hasMessageContaining(
                                "not known to be replicated: it is unknown whether a failover has undone it");
                assertThat(((ReplicationTimeoutException) again).getResult())
                        .isEqualTo(((ReplicationTimeoutException) failure(change.result())).getResult());
                assertThat(change.isUnconfirmed()).isTrue();
            }
        }
        assertThat(failover.called).containsOnly(LuaScript.REPLICATION);
    }

    private static String historyOfMaster() {
        Matcher id =
                Pattern.compile("master_replid:(\\w+)").matcher(MasterAndReplica.info(servers.master, "replication"));
        assertThat(id.find()).isTrue();
        return id.group(1);
    }

    private String onlyDeadLetter() throws Exception {
        List<MessageInfo> dead = get(queue.deadLetters().admin().list(MessageState.DELAYED, PageStart.first(), 10))
                .messages();
        assertThat(dead).hasSize(1);
        return dead.get(0).id();
    }

    @Test
    void should_be_unconfirmed_if_a_partition_is() throws Exception {
        failover().history = historyOfMaster();
        DelayQueue parts = client.queue("q" + ++queues, 2);
        Submission<Boolean> sent = parts.admin().pause();
        assertThat(failure(sent.result())).isInstanceOf(ReplicationTimeoutException.class);
        assertThat(sent.isUnconfirmed()).isTrue();
        assertThat(failure(sent.outcome())).isInstanceOf(ReplicationTimeoutException.class);
        get(sent.confirm());
        assertThat(get(parts.admin().stats()).paused()).isTrue();
    }

    @Test
    void should_refuse_durability_that_cannot_be() {
        assertThatThrownBy(() -> new Durability(-1, false, SHORT)).hasMessage("replicas is -1: it must be 0 or more");
        assertThatThrownBy(() -> new Durability(1, false, Duration.ZERO))
                .hasMessage("timeout is PT0S: it must be 1 millisecond or more");
        ClientOptions options = ClientOptions.DEFAULTS
                .withDurability(new Durability(1, false, SHORT))
                .withRequestTimeout(SHORT);
        assertThatThrownBy(() -> DelayQueueClient.create(redisson, options))
                .hasMessage(
                        "the timeout of durability is PT0.3S: it must be shorter than requestTimeout, which is PT0.3S");
        assertThat(options.withDurability(Durability.NONE)).isEqualTo(ClientOptions.DEFAULTS.withRequestTimeout(SHORT));
    }
}
