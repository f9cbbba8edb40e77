// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.LogLines;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Follows the pages for operators. Their redis-cli commands run on a queue in the state that docs/troubleshooting.md speaks of: {@code order-1} waits for half
 * an hour, {@code order-2} is being delivered, {@code order-3} is dead, and {@code order-4} is overdue, as the consumer is full.
 */
class OperatingPageIT {

    static final String TROUBLESHOOTING = "docs/troubleshooting.md";
    static final List<String> PAGES =
            List.of("docs/operating.md", TROUBLESHOOTING, "docs/failures.md", "docs/replicas.md", "docs/backup.md");

    private static final Set<String> READING = Set.of(
            "--scan",
            "ACL LOG",
            "HEXISTS",
            "HGET",
            "HGETALL",
            "HVALS",
            "INFO",
            "PUBSUB CHANNELS",
            "SLOWLOG LEN",
            "TIME",
            "ZCARD",
            "ZRANGE",
            "ZREVRANGE",
            "ZSCORE");
    private static final String USER = "redis-cli ACL SETUSER operator ";
    private static final Pattern LOGGER = Pattern.compile("`(io\\.github\\.redisdelay\\.[\\w.]+)`");
    private static final Pattern LINE = Pattern.compile("(?m)^\\| `([^`]+)`");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    /** The lines that are logged when Redis does not answer. */
    private static final Pattern WITHOUT_REDIS =
            Pattern.compile("no message can be received|acknowledgements are not sent yet");

    private static RedisServer redis;
    private static Application application;
    private static LogLines log;
    private static final CountDownLatch order2 = new CountDownLatch(1);

    /** A Camel context with the component, on one Redis. */
    private static final class Application implements AutoCloseable {

        final DefaultCamelContext context = new DefaultCamelContext();
        final List<String> received = new CopyOnWriteArrayList<>();

        Application(String address) {
            RedisDelayComponent component = new RedisDelayComponent();
            component.getConfiguration().setAddress(address);
            context.disableJMX();
            context.getShutdownStrategy().setTimeout(10);
            context.addComponent("redis-delay", component);
            context.start();
        }

        void consume(String uri) throws Exception {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri).routeId("close-unpaid").process(exchange -> {
                        String id = exchange.getMessage().getHeader("CamelRedisDelayMessageId", String.class);
                        if (id.equals("order-3")) {
                            throw new ConnectException("the bank is away");
                        }
                        if (id.equals("order-2")) {
                            order2.await();
                        }
                        received.add(id);
                    });
                }
            });
        }

        void ask(String uri, String id) {
            context.createProducerTemplate().sendBodyAndHeaders(uri, "body", Map.of("CamelRedisDelayScheduleId", id));
        }

        Object state(String id) {
            return context.createProducerTemplate()
                    .request("redis-delay:orders?operation=get", exchange -> exchange.getMessage()
                            .setHeader("CamelRedisDelayScheduleId", id))
                    .getMessage()
                    .getHeader("CamelRedisDelayState");
        }

        Map<?, ?> stats() {
            return context.createProducerTemplate()
                    .requestBody("redis-delay:orders?operation=stats", (Object) null, Map.class);
        }

        @Override
        public void close() throws IOException {
            context.close();
        }
    }

    @BeforeAll
    static void start() throws Exception {
        redis = RedisServer.dedicated("appendonly yes");
        makeOperator();
        application = new Application(redis.address());
        application.ask("redis-delay:invoices?partitions=3&delay=30m", "invoice-1");
        // Which queue was used last is noted in the background.
        try (RedisSocket socket = RedisSocket.open(redis.address())) {
            await().untilAsserted(() ->
                    assertThat(socket.call("ZCARD redis-delay:queues")).isEqualTo(":1"));
        }
        application.ask("redis-delay:orders?delay=30m", "order-1");
        for (String due : List.of("order-3", "order-2", "order-4")) {
            application.ask("redis-delay:orders", due);
        }
        log = new LogLines("io.github.redisdelay");
        application.consume("redis-delay:orders?maximumRedeliveries=0&visibilityTimeout=10m");
        await().untilAsserted(() -> assertThat(application.stats().toString())
                .contains("delayed=2", "overdue=1", "leased=1", "dead=1", "consumers=1"));
        try (RedisSocket socket = RedisSocket.open(redis.address())) {
            await().untilAsserted(() ->
                    assertThat(socket.call("ZCARD redis-delay:queues")).isEqualTo(":2"));
        }
    }

    private static void makeOperator() throws IOException {
        String line = blocks("sh").stream()
                .map(Block::code)
                .filter(code -> code.startsWith(USER))
                .findFirst()
                .orElseThrow();
        try (RedisSocket socket = RedisSocket.open(redis.address())) {
            RedisCli.of(line.strip()).check(socket);
        }
    }

    @AfterAll
    static void stop() throws IOException {
        order2.countDown();
        application.close();
        log.close();
        redis.close();
    }

    private static List<Block> blocks(String language) throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (String page : PAGES) {
            blocks.addAll(Block.of(page, Files.readAllLines(Block.ROOT.resolve(page))));
        }
        return blocks.stream()
                .filter(block -> block.language().equals(language))
                .toList();
    }

    /** Tells whether this test follows a block. */
    static boolean follows(Block block) {
        return PAGES.contains(block.page())
                && (Set.of("", "conf").contains(block.language()) || RedisCli.isAllOf(block));
    }

    @Test
    void should_configure_a_server_that_warns_of_nothing() throws Exception {
        String[] lines = blocks("conf").get(0).code().split("\n");
        try (RedisServer server = RedisServer.dedicated(lines);
                RedisSocket socket = RedisSocket.open(server.address());
                Application application = new Application(server.address())) {
            for (String line : lines) {
                String[] words = line.split(" ");
                assertThat(socket.texts("CONFIG GET " + words[0]).get(1))
                        .isEqualTo(words[1].equals("2gb") ? String.valueOf(2L << 30) : words[1]);
            }
            application.consume("redis-delay:orders");
            assertThat(log.of(Level.INFO)).anyMatch(line -> line.contains(server.address()));
            assertThat(log.of(Level.WARN)).noneMatch(line -> line.contains(server.address()));
        }
    }

    static List<String> commands() throws IOException {
        return blocks("sh").stream()
                .filter(OperatingPageIT::follows)
                .flatMap(block -> block.code().lines())
                .filter(line -> !line.startsWith(USER))
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("commands")
    void should_answer_as_the_page_says(String line) throws IOException {
        RedisCli command = RedisCli.of(line);
        assertThat(READING).as(line + " only reads").anyMatch(reading -> String.join(" ", command.words())
                .startsWith(reading));
        String operator = redis.address().replace("redis://", "redis://operator:secret@");
        try (RedisSocket socket = RedisSocket.open(operator)) {
            command.check(socket);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-cli ZCARD 'redis-delay:{orders}:delayed' # (integer) 3: wait",
                "redis-cli ZCARD 'redis-delay:{orders}:waiting' # (integer) 2: wait",
                "redis-cli ZSCORE 'redis-delay:{orders}:delayed' order-1 # (nil): nothing",
                "redis-cli INFO memory | grep maxmemory_policy # maxmemory_policy:allkeys-lru: bad",
                "redis-cli --scan --pattern '*:{orders*}:messages' # \"delay:{orders}:messages\": one",
                "redis-cli ZCARD 'redis-delay:{orders}:delayed'",
            })
    void should_notice_another_answer(String line) throws IOException {
        try (RedisSocket socket = RedisSocket.open(redis.address())) {
            assertThatThrownBy(() -> RedisCli.of(line).check(socket)).isInstanceOf(AssertionError.class);
        }
    }

    /** But for figures, durations, the address and the kind of server. */
    private static String shape(String line) {
        return NUMBER.matcher(line.replaceAll("redis://[\\w.:]+", "redis://")
                        .replace("(Valkey ", "(Redis ")
                        .replaceAll("\\d+ (ms|s|min)\\b", "0 min"))
                .replaceAll("0");
    }

    @Test
    void should_follow_all_that_is_shown_without_a_language() throws IOException {
        assertThat(blocks("")).hasSize(2);
    }

    @Test
    void should_log_the_line_of_the_start() throws IOException {
        String shown = blocks("").get(0).code().strip();
        assertThat(log.of(Level.INFO)).extracting(OperatingPageIT::shape).contains(shape(shown));
    }

    @Test
    void should_say_that_redis_is_full() throws Exception {
        String shown = blocks("").get(1).code().strip();
        try (RedisServer full = RedisServer.dedicated("maxmemory 1");
                Application producer = new Application(full.address())) {
            assertThatThrownBy(() -> producer.ask("redis-delay:orders", "order-1"))
                    .hasStackTraceContaining(shown);
        }
    }

    @Test
    void should_name_loggers_that_there_are() throws IOException {
        List<String> names = LOGGER.matcher(Files.readString(Block.ROOT.resolve(TROUBLESHOOTING)))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(names).isNotEmpty().allSatisfy(name -> {
            Path source = Path.of("src/main/java", name.split("\\."));
            assertThat(Files.isDirectory(source) || Files.exists(Path.of(source + ".java")))
                    .as(name)
                    .isTrue();
        });
    }

    /** The lines of its table; … stands for anything, a number for any, and a unit of time for any other. */
    private static List<Pattern> lines() throws IOException {
        String page = Files.readString(Block.ROOT.resolve(TROUBLESHOOTING));
        String table = page.substring(page.indexOf("| line (WARN) |"), page.indexOf("For more, raise these loggers"));
        return LINE.matcher(table)
                .results()
                .map(line -> NUMBER.matcher(Pattern.quote(line.group(1)).replaceAll("\\d+ (ms|s|min|h)\\b", "1"))
                        .replaceAll("\\\\E.+\\\\Q")
                        .replace("…", "\\E.*\\Q"))
                .map(Pattern::compile)
                .toList();
    }

    @Test
    void should_log_the_lines_of_the_page() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                Application app = new Application(server.address());
                RedisSocket socket = RedisSocket.open(server.address())) {
            app.context.getShutdownStrategy().setTimeout(1);
            CountDownLatch gone = new CountDownLatch(1);
            app.context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:failing").throwException(new ConnectException("the bank is away"));
                    from("redis-delay:expiring").to("log:expiring");
                    from("redis-delay:hanging?visibilityTimeout=300ms&maximumVisibilityExtension=1s")
                            .process(exchange -> gone.await());
                    from("redis-delay:finishing").process(exchange -> gone.await());
                }
            });
            app.ask("redis-delay:failing", "x");
            app.ask("redis-delay:expiring?operation=pause", "-");
            app.ask("redis-delay:expiring?timeToLive=1ms", "x");
            app.ask("redis-delay:hanging", "x");
            app.ask("redis-delay:finishing", "x");
            app.ask("redis-delay:orders", "bodiless");
            assertThat(socket.call("HDEL redis-delay:{orders}:messages bodiless"))
                    .isEqualTo(":1");
            app.consume("redis-delay:orders");
            app.ask("redis-delay:held?operation=pause", "-");
            app.consume("redis-delay:held");
            app.ask("redis-delay:expiring?operation=resume", "-");
            List<Pattern> withRedis = lines().stream()
                    .filter(line -> !WITHOUT_REDIS.matcher(line.pattern()).find())
                    .toList();
            awaitLogged(withRedis.stream()
                    .filter(line -> !line.pattern().contains("has lost data"))
                    .toList());
            socket.call("FLUSHALL");
            awaitLogged(withRedis);
            server.kill();
            gone.countDown();
            awaitLogged(lines());
        }
    }

    private static void awaitLogged(List<Pattern> lines) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            List<String> logged = new ArrayList<>(log.of(Level.WARN));
            logged.addAll(log.of(Level.INFO));
            for (Pattern line : lines) {
                assertThat(logged).as(line.pattern()).anyMatch(line.asPredicate());
            }
        });
    }

    /** The column of the table of causes that says how you know them, as far as it is in Redis or in the figures. */
    @Test
    void should_know_causes_by_what_the_page_says() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                Application app = new Application(server.address());
                RedisSocket socket = RedisSocket.open(server.address())) {
            app.ask("redis-delay:orders", "due");
            assertThat(app.stats().toString()).as("nobody listens").contains("overdue=1", "consumers=0");
            assertThat(app.state("due")).isEqualTo("delayed");
            app.ask("redis-delay:orders?operation=pause", "-");
            assertThat(socket.shown(List.of("HGET", "redis-delay:{orders}:config", "paused")))
                    .matches("\"\\d{16}\"");
            app.consume("redis-delay:orders");
            assertThat(log.of(Level.INFO)).anyMatch(line -> line.contains(server.address()) && line.contains("PAUSED"));
            app.ask("redis-delay:orders?operation=cancel", "due");
            assertThat(app.state("due")).as("cancelled").isEqualTo("none");
            app.ask("redis-delay:orders?priority=5&delay=30m", "urgent");
            assertThat(socket.shown(List.of("HGET", "redis-delay:{orders}:config", "priorities")))
                    .isEqualTo("\"5\"");
            assertThat(socket.shown(List.of("ZSCORE", "redis-delay:{orders}:delayed:5", "urgent")))
                    .startsWith("\"");
            app.ask("redis-delay:orders?operation=resume", "-");
            app.ask("redis-delay:orders?deduplicationPeriod=1h", "finished");
            await().untilAsserted(() -> assertThat(app.received).containsExactly("finished"));
            await().untilAsserted(() -> assertThat(app.state("finished")).isEqualTo("none"));
            assertThat(socket.shown(List.of("ZSCORE", "redis-delay:{orders}:seen", "finished")))
                    .startsWith("\"");
            assertThatThrownBy(() -> app.ask("redis-delay:orders", "finished"))
                    .hasStackTraceContaining("DuplicateMessageException");
            app.ask("redis-delay:others?partitions=3&delay=30m", "x");
            assertThatThrownBy(() -> app.ask("redis-delay:others?partitions=6", "y"))
                    .hasStackTraceContaining("PartitionMismatchException")
                    .hasStackTraceContaining("has 3 partitions, and option 'partitions' is 6");
        }
    }

    @Test
    void should_let_the_operator_look_and_change_nothing() throws IOException {
        String operator = redis.address().replace("redis://", "redis://operator:secret@");
        try (RedisSocket socket = RedisSocket.open(operator)) {
            for (String change : List.of(
                    "DEL redis-delay:{orders}:messages",
                    "HSET redis-delay:{orders}:config paused 1",
                    "FLUSHALL",
                    "EVAL return 0",
                    "CONFIG GET *",
                    "GET other",
                    "PUBLISH redis-delay:wakeup:x 0")) {
                assertThat(socket.call(change)).startsWith("-NOPERM");
            }
        }
        try (RedisSocket socket = RedisSocket.open(redis.address())) {
            assertThat(socket.call("ACL LOG RESET")).isEqualTo("+OK"); // another command of the page shows it
        }
    }

    @Test
    void should_go_on_with_a_redis_that_has_lost_all() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                Application running = new Application(server.address());
                RedisSocket socket = RedisSocket.open(server.address())) {
            running.consume("redis-delay:orders?partitions=3");
            running.ask("redis-delay:orders?partitions=3", "before");
            await().untilAsserted(() -> assertThat(running.received).containsExactly("before"));
            running.ask("redis-delay:orders?partitions=3&delay=30m", "lost");
            assertThat(socket.call("FLUSHALL")).isEqualTo("+OK");
            assertThat(socket.call("SCRIPT FLUSH")).isEqualTo("+OK");
            for (int twice = 0; twice < 2; twice++) {
                running.ask("redis-delay:orders?partitions=3&delay=30m&onDuplicate=ignore", "lost");
            }
            running.ask("redis-delay:orders?partitions=3&operation=promote", "lost");
            await().atMost(Duration.ofSeconds(40))
                    .untilAsserted(() -> assertThat(running.received).containsExactly("before", "lost"));
        }
    }

    @Test
    void should_bring_back_an_older_state_with_a_backup() throws Exception {
        try (RedisServer server = RedisServer.dedicated("dbfilename dump.rdb", "save 3600 1");
                Application before = new Application(server.address())) {
            for (String id : List.of("done", "cancelled")) {
                before.ask("redis-delay:orders?delay=30m", id);
            }
            Path file;
            try (RedisSocket socket = RedisSocket.open(server.address())) {
                assertThat(socket.call("SAVE")).isEqualTo("+OK");
                file = Path.of(socket.texts("CONFIG GET dir").get(1), "dump.rdb");
            }
            Path copy = Files.copy(file, file.resolveSibling("copy.rdb"));
            before.ask("redis-delay:orders?operation=cancel", "cancelled");
            before.ask("redis-delay:orders?operation=promote", "done");
            before.consume("redis-delay:orders");
            await().untilAsserted(() -> assertThat(before.received).containsExactly("done"));
            before.ask("redis-delay:orders?delay=30m", "later");
            before.close();
            server.stop();
            Files.copy(copy, file, StandardCopyOption.REPLACE_EXISTING);
            server.start();
            try (Application after = new Application(server.address())) {
                after.ask("redis-delay:orders?operation=pause", "-");
                assertThat(after.stats().toString()).contains("delayed=2", "paused=true");
                after.ask("redis-delay:orders?operation=cancel", "cancelled");
                after.ask("redis-delay:orders?delay=30m&onDuplicate=ignore", "later");
                after.ask("redis-delay:orders?delay=30m&onDuplicate=ignore", "done");
                after.consume("redis-delay:orders");
                after.ask("redis-delay:orders?operation=promote", "done");
                after.ask("redis-delay:orders?operation=promote", "later");
                assertThat(after.received).isEmpty();
                after.ask("redis-delay:orders?operation=resume", "-");
                await().untilAsserted(() -> assertThat(after.received).containsExactly("done", "later"));
            }
        }
    }

    @Test
    void should_go_on_at_a_replica_that_was_made_the_master() throws Exception {
        try (RedisServer old = RedisServer.dedicated("repl-diskless-sync-delay 0");
                RedisServer next = RedisServer.dedicated();
                RedisSocket atOld = RedisSocket.open(old.address());
                RedisSocket atNext = RedisSocket.open(next.address())) {
            Application before = new Application(old.address());
            before.ask("redis-delay:orders?delay=30m", "waits");
            assertThat(atNext.call("REPLICAOF " + old.host() + " " + old.port()))
                    .isEqualTo("+OK");
            await().untilAsserted(
                            () -> assertThat(atNext.text("INFO replication")).contains("master_link_status:up"));
            before.ask("redis-delay:orders?delay=30m", "waits, too");
            before.close();
            await().untilAsserted(() ->
                    assertThat(offset(atNext, "slave_repl_offset")).isEqualTo(offset(atOld, "master_repl_offset")));
            assertThat(atNext.call("REPLICAOF NO ONE")).isEqualTo("+OK");
            try (Application after = new Application(next.address())) {
                after.consume("redis-delay:orders");
                for (String id : List.of("waits", "waits, too")) {
                    after.ask("redis-delay:orders?operation=promote", id);
                }
                await().untilAsserted(() ->
                        assertThat(new ArrayList<>(after.received)).containsExactlyInAnyOrder("waits", "waits, too"));
            }
        }
    }

    private static String offset(RedisSocket socket, String name) throws IOException {
        return socket.text("INFO replication")
                .lines()
                .filter(line -> line.startsWith(name + ":"))
                .findFirst()
                .orElseThrow()
                .substring(name.length());
    }
}
