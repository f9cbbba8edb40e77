// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.health.HealthCheckHelper;
import org.apache.camel.health.HealthCheckRegistry;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The user whose {@code ACL SETUSER} line stands in the documentation may do all that the component does, and nothing
 * that it does not need.
 */
class PermissionsIT {

    static final Path PAGE = Path.of("../../docs/connections.md");
    private static final Path SCRIPTS =
            Path.of("../../camel-redis-delay/src/main/resources/io/github/redisdelay/queue");
    private static final Path IMPORT =
            Path.of("../../extensions/camel-redis-delay-import/src/main/resources/io/github/redisdelay/imports");
    private static final Pattern LINE = Pattern.compile("(?m)^ACL SETUSER (\\S+) reset on >(\\S+) (.+)$");
    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");
    /** The commands of the test itself while the user's commands are counted; AUTH is allowed to everybody. */
    private static final Set<String> NOT_COUNTED = Set.of("acl", "auth", "config", "config|resetstat");

    /** The commands that groups, limits and recurring schedules will need: users have them before the upgrade. */
    private static final Set<String> RESERVED = Set.of("hincrby", "zincrby", "zremrangebylex");

    private static final Set<String> LOADING = Set.of("eval", "script|load");

    /** The user of the documentation. */
    record User(String line, String name, String password, Set<String> commands) {

        static User ofThePage() throws IOException {
            return of(Files.readString(PAGE), PAGE);
        }

        static User of(String text, Path where) {
            Matcher line = LINE.matcher(text);
            assertThat(line.find()).as("a line with ACL SETUSER in " + where).isTrue();
            Set<String> commands = Arrays.stream(line.group(3).split(" "))
                    .filter(word -> word.startsWith("+"))
                    .map(word -> word.substring(1))
                    .collect(Collectors.toCollection(TreeSet::new));
            return new User(line.group(), line.group(1), line.group(2), commands);
        }

        /** Makes it, without some of its commands. */
        void create(RedisServer server, String... without) throws IOException {
            create(server.address(), without);
        }

        void create(String address, String... without) throws IOException {
            String made = line;
            for (String command : without) {
                assertThat(made).contains(" +" + command);
                made = made.replaceFirst(" \\+" + Pattern.quote(command) + "(?= |$)", "");
            }
            assertThat(call(address, made)).isEqualTo("+OK");
        }
    }

    /** All lines of a document that make a user, or give it more. */
    static List<String> lines(Path document) throws IOException {
        return Files.readString(document)
                .lines()
                .filter(line -> line.startsWith("ACL SETUSER "))
                .toList();
    }

    static String call(String address, String command) throws IOException {
        try (RedisSocket direct = RedisSocket.open(address)) {
            return direct.call(command);
        }
    }

    /** The denials of all users: commands, keys and channels. */
    static Set<String> denied(String address) throws IOException {
        Set<String> objects = new TreeSet<>();
        try (RedisSocket direct = RedisSocket.open(address)) {
            for (int entries = count(direct.call("ACL LOG")); entries > 0; entries--) {
                String before = "";
                for (int values = count(direct.next()); values > 0; values--) {
                    String value = direct.next();
                    value = value.startsWith("$") ? direct.next() : value;
                    if (before.equals("object")) {
                        objects.add(value);
                    }
                    before = value;
                }
            }
        }
        // Redisson 4 tries out when it connects whether it is allowed to use two keys in one script, and goes on if
        // not.
        objects.remove("test1");
        return objects;
    }

    private static int count(String head) {
        assertThat(head).startsWith("*");
        return Integer.parseInt(head.substring(1));
    }

    /** The commands that were called, in scripts and otherwise. */
    private static Set<String> used(RedisServer server) throws IOException {
        Set<String> commands = new TreeSet<>();
        try (RedisSocket direct = RedisSocket.open(server.address())) {
            Pattern stat = Pattern.compile("cmdstat_(\\S+):calls=[1-9].*");
            for (String line : direct.text("INFO commandstats").lines().toList()) {
                Matcher matcher = stat.matcher(line);
                if (matcher.matches() && !NOT_COUNTED.contains(matcher.group(1))) {
                    commands.add(matcher.group(1));
                }
            }
        }
        return commands;
    }

    /** All commands that a script may call, whether a test gets there or not. */
    private static Set<String> ofTheScripts(Path folder) throws IOException {
        Set<String> commands = new TreeSet<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".lua")).toList()) {
                CALL.matcher(Files.readString(file))
                        .results()
                        .map((MatchResult found) -> found.group(1).toLowerCase(Locale.ROOT))
                        .forEach(commands::add);
            }
        }
        return commands;
    }

    @Test
    void should_have_one_list_in_all_documents() throws Exception {
        List<String> lines = lines(PAGE);
        List<Path> documents = new ArrayList<>(List.of(Path.of("../../README.md")));
        try (Stream<Path> docs = Files.list(Path.of("../../docs"))) {
            docs.filter(path -> path.toString().endsWith(".md")).forEach(documents::add);
        }
        for (Path document : documents) {
            if (!lines(document).isEmpty()) {
                assertThat(lines(document))
                        .as("lines with ACL SETUSER in " + document + ", which have to be as in " + PAGE)
                        .isEqualTo(lines);
            }
        }
    }

    @Test
    void should_name_every_command_of_the_scripts() throws Exception {
        assertThat(User.ofThePage().commands())
                .as("commands in the line ACL SETUSER of " + PAGE)
                .containsAll(ofTheScripts(SCRIPTS));
    }

    @Test
    void should_suffice_for_everything_and_name_nothing_that_is_not_needed() throws Exception {
        User user = User.ofThePage();
        try (RedisServer server = RedisServer.dedicated()) {
            user.create(server);
            assertThat(call(server.address(), "CONFIG RESETSTAT")).isEqualTo("+OK");
            try (Everything everything = new Everything(server, user)) {
                everything.run();
            }
            Set<String> needed = used(server);
            if (needed.remove("script")) {
                needed.add("script|load"); // before 7.0 they are not told apart
            }
            assertThat(denied(server.address())).as("what was denied").isEmpty();
            assertThat(user.commands()).as("commands in the documentation").containsAll(needed);
            // Redisson 3 takes the one to make a script known, Redisson 4 the other.
            assertThat(needed).containsAnyElementsOf(LOADING);
            needed.addAll(LOADING);
            needed.addAll(ofTheScripts(SCRIPTS));
            assertThat(needed).as("commands that are needed").doesNotContainAnyElementsOf(RESERVED);
            needed.addAll(RESERVED);
            assertThat(user.commands()).as("commands in the documentation").containsAll(RESERVED);
            assertThat(needed).as("commands that are needed").containsAll(user.commands());
        }
    }

    @Test
    void should_suffice_for_an_import_with_a_line_of_its_own() throws Exception {
        User user = User.ofThePage();
        String more = lines(PAGE).stream()
                .filter(line -> line.contains("redisson_delay_queue"))
                .findFirst()
                .orElseThrow();
        Set<String> added = Arrays.stream(more.split(" "))
                .filter(word -> word.startsWith("+"))
                .map(word -> word.substring(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> needed = ofTheScripts(IMPORT);
        needed.removeAll(user.commands());
        assertThat(added).isEqualTo(needed);
        try (RedisServer server = RedisServer.dedicated()) {
            user.create(server);
            assertThat(call(server.address(), more)).isEqualTo("+OK");
            for (String command : List.of(
                    "ZADD redisson_delay_queue_timeout:{orders} 1000 none",
                    "RPUSH redisson_delay_queue:{orders} none",
                    "RPUSH orders a b")) {
                assertThat(call(server.address(), command)).startsWith(":");
            }
            Config config = new Config();
            // Redisson 3 has these settings only here.
            config.useSingleServer()
                    .setAddress(server.address())
                    .setConnectionMinimumIdleSize(1)
                    .setUsername(user.name())
                    .setPassword(user.password());
            RedissonClient redisson = Redisson.create(config);
            try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
                ImportReport report = RedissonImport.into(client.queue("orders"))
                        .run(new ImportSource("orders"), ConvertedPayload::of, ImportOptions.EVERYTHING)
                        .get(20, TimeUnit.SECONDS);
                assertThat(report.moved()).isEqualTo(2);
                assertThat(report.remaining()).isOne(); // one that is no element
            } finally {
                redisson.shutdown();
            }
            assertThat(denied(server.address())).as("what was denied").isEmpty();
        }
    }

    /** So that the test above is known to notice. */
    @ParameterizedTest
    @ValueSource(strings = {"evalsha", "zcard", "ping"})
    void should_notice_a_command_that_is_missing(String command) throws Exception {
        User user = User.ofThePage();
        try (RedisServer server = RedisServer.dedicated()) {
            user.create(server, command);
            try (Everything everything = new Everything(server, user)) {
                assertThatThrownBy(everything::begin)
                        .hasStackTraceContaining("Redis at " + server.address() + " cannot be used");
            }
            assertThat(denied(server.address())).contains(command);
        }
    }

    /** Uses the component in all ways. */
    private static final class Everything implements AutoCloseable {

        private static final String URI = "redis-delay:orders";
        private static final String METADATA = "META-INF/io/github/redisdelay/camel/redis-delay.json";

        private final DefaultCamelContext context = new DefaultCamelContext();
        private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        private final Set<String> operations = new TreeSet<>();

        Everything(RedisServer server, User user) {
            RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
            component.getConfiguration().setAddress(server.address());
            component.getConfiguration().setUsername(user.name());
            component.getConfiguration().setPassword(user.password());
            component.getConfiguration().setDatabase(1);
        }

        void run() throws Exception {
            begin();
            schedule();
            change();
            bury();
            waitForReplicas();
            assertHealthy();
            assertThat(operations).as("operations that were tried").isEqualTo(allOperations());
        }

        void begin() throws Exception {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    errorHandler(noErrorHandler());
                    from(URI
                                    + "?visibilityTimeout=600ms&redeliveryDelay=0&deadLetterRetention=1h&maximumDeadLetters=1000")
                            .routeId("orders")
                            .process(Everything.this::work);
                    from("redis-delay:lists?batching=true&batchTimeout=100ms")
                            .routeId("lists")
                            .process(this::receive);
                    from(URI + "?state=dead").routeId("dead").autoStartup(false).process(this::receive);
                }

                private void receive(Exchange exchange) {
                    received.add(exchange.getFromRouteId());
                }
            });
            HealthCheckRegistry registry = HealthCheckRegistry.get(context);
            registry.register(registry.resolveById("consumers"));
            context.start();
        }

        private void work(Exchange exchange) throws Exception {
            String id = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
            int attempt = exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, int.class);
            if (id.startsWith("fails") && attempt == 1) {
                throw new IllegalStateException("once");
            }
            if (id.startsWith("dies")) {
                throw new IllegalStateException("always");
            }
            if (id.startsWith("long")) {
                long leaseEnd = leaseEnd(id);
                await().until(() -> leaseEnd(id) > leaseEnd); // it is extended
            }
            received.add(id);
        }

        private long leaseEnd(String id) {
            return send("?operation=get", id).getMessage().getHeader(RedisDelayConstants.LEASE_END, long.class);
        }

        private Exchange send(String options, Object body, Map<String, Object> headers) {
            Exchange exchange = context.createProducerTemplate().request(URI + options, e -> {
                e.getMessage().setBody(body);
                e.getMessage().setHeaders(new HashMap<>(headers));
            });
            assertThat(exchange.getException()).as("what came of " + options).isNull();
            return exchange;
        }

        private Exchange send(String options, String id) {
            return send(options, "body", id == null ? Map.of() : Map.of(RedisDelayConstants.SCHEDULE_ID, id));
        }

        private Exchange operate(String operation, String options, String id) {
            operations.add(operation);
            return send("?operation=" + operation + options, id);
        }

        private void awaitReceived(String what) throws InterruptedException {
            String next;
            do {
                next = received.poll(20, TimeUnit.SECONDS);
                assertThat(next).as("deliveries while waiting for " + what).isNotNull();
            } while (!next.equals(what));
        }

        private void schedule() throws Exception {
            operate("schedule", "", "plain");
            awaitReceived("plain");
            send("?delay=200ms&priority=5&timeToLive=1h&maximumQueueLength=1000", "first");
            awaitReceived("first");
            send("?deduplicationPeriod=1h", "remembered");
            awaitReceived("remembered");
            send("?onDuplicate=ignore", "remembered");
            send("", "fails");
            awaitReceived("fails");
            send("", "long");
            awaitReceived("long");
            send("?delay=1h", "replaced");
            send("?delay=2h&onDuplicate=replace&priority=3", "replaced");
            context.createProducerTemplate()
                    .sendBody("redis-delay:lists?batching=true", List.of("one", "two", "three"));
            awaitReceived("lists");
        }

        private void change() throws Exception {
            send("?delay=1h", "changed");
            operate("reschedule", "&delay=2h", "changed");
            operate("get", "", "changed");
            operate("list", "&state=delayed&limit=1", null);
            operate("list", "&state=leased", null);
            operate("stats", "", null);
            operate("outlook", "", null);
            operate("pause", "", null);
            operate("resume", "", null);
            operate("promote", "", "changed");
            awaitReceived("changed");
            operate("promote", "&all=true", null);
            awaitReceived("replaced");
            send("?delay=1h", "cancelled");
            operate("cancel", "", "cancelled");
        }

        private void bury() throws Exception {
            for (String id : List.of("dies-1", "dies-2", "dies-3")) {
                send("", Map.of(RedisDelayConstants.SCHEDULE_ID, id, RedisDelayConstants.MAXIMUM_REDELIVERIES, 0));
            }
            awaitDead(3);
            List<?> dead = operate("list", "&state=dead", null).getMessage().getBody(List.class);
            String one = (String) ((Map<?, ?>) dead.get(0)).get("deadLetterId");
            operate("get", "&state=dead", one);
            operate("redrive", "", one);
            awaitDead(3); // it has died again
            operate("redrive", "&all=true", null);
            awaitDead(3);
            context.getRouteController().startRoute("dead");
            awaitReceived("dead");
            context.getRouteController().stopRoute("dead");
            operate("purge", "&all=true", null);
            for (String operation : allOperations()) {
                // Those that came since.
                if (!operations.contains(operation)) {
                    operate(operation, "", null);
                }
            }
        }

        /** There are none: that it is known is what tells that it was waited for. */
        private void waitForReplicas() throws Exception {
            Exchange exchange = context.createProducerTemplate()
                    .request(URI + "?waitForReplicas=1&replicationTimeout=100ms", e -> {
                        e.getMessage().setBody("body");
                        e.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "replicated");
                    });
            assertThat(exchange.getException()).isInstanceOf(ReplicationTimeoutException.class);
            awaitReceived("replicated");
        }

        private void send(String options, Map<String, Object> headers) {
            send(options, "body", headers);
        }

        private void awaitDead(int count) {
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> operate("list", "&state=dead", null)
                                    .getMessage()
                                    .getBody(List.class)
                                    .size()
                            == count);
        }

        private void assertHealthy() {
            // A check waits a second for an answer of Redis, and says that none came.
            await().untilAsserted(() -> assertThat(HealthCheckHelper.invoke(context))
                    .filteredOn(result -> result.getCheck().getId().startsWith("consumer:"))
                    .isNotEmpty()
                    .allSatisfy(result -> {
                        assertThat(result.getState()).isEqualTo(HealthCheck.State.UP);
                        assertThat(result.getDetails()).doesNotContainKey("redis.stats.error");
                    }));
        }

        /** Those of the metadata, but for the import: it needs a line of its own, and has a test of its own. */
        private static Set<String> allOperations() throws Exception {
            try (InputStream in = RedisDelayComponent.class.getClassLoader().getResourceAsStream(METADATA)) {
                JsonObject all = (JsonObject) Jsoner.deserialize(new String(in.readAllBytes(), StandardCharsets.UTF_8));
                JsonObject option = (JsonObject) all.getMap("properties").get("operation");
                return ((Collection<?>) option.get("enum"))
                        .stream()
                                .map(String::valueOf)
                                .filter(operation -> !operation.equals("import"))
                                .collect(Collectors.toCollection(TreeSet::new));
            }
        }

        @Override
        public void close() throws Exception {
            context.close();
        }
    }
}
