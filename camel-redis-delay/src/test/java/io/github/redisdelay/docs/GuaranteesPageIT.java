// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.ConsumerProcess;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import io.github.redisdelay.testkit.MasterAndReplica;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

/**
 * Keeps the pictures of {@code docs/guarantees.md} true. They name only what exists, and real servers do the steps that they show,
 * in their order, with the message in the keys that they name.
 */
@Timeout(120)
class GuaranteesPageIT {

    private static final String PAGE = "docs/guarantees.md";
    private static final Path SOURCES = Path.of("src/main");

    private static final Pattern PARTICIPANT = Pattern.compile("participant (\\w+)(?: as (.+))?");
    private static final Pattern SCRIPT = Pattern.compile("\\b\\w+\\.lua\\b");
    /** Names of the code: of scripts, of keys, in camel case or capitals. */
    private static final Pattern NAME =
            Pattern.compile("\\w+\\.lua|redis-delay:\\w+|\\b[a-z]+[A-Z]\\w*|\\b[A-Z_]{3,}\\b|\\b[A-Z][a-z]+[A-Z]\\w+");

    private static final List<String> OTHER_PARTICIPANTS = List.of("Redis", "your route");

    /** {@link ConsumerProcess} dies of a message with such an id. */
    private static final String ID = "poison";

    private static final Duration LONG = Duration.ofMinutes(1);

    private static List<Block> pictures;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeAll
    static void read() throws IOException {
        pictures = Block.of(PAGE, Files.readAllLines(Block.ROOT.resolve(PAGE))).stream()
                .filter(block -> block.language().equals("mermaid"))
                .toList();
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.add(resource);
        return resource;
    }

    /** The lines of a picture. */
    private static List<String> picture(int number) {
        return pictures.get(number).code().lines().map(String::strip).toList();
    }

    /** The steps of one server in a picture, in the words of {@link ObservedSteps}. */
    private static List<String> steps(List<String> picture, String server) {
        return picture.stream()
                .flatMap(line -> Stream.of(
                                "\\w+->>" + server + ": (\\w+\\.lua|WAIT)",
                                server + "-\\)\\w+: (redis-delay:\\w+)",
                                "Note over " + server + ": (in .+)")
                        .flatMap(form -> Pattern.compile(form).matcher(line).results())
                        .map(found -> found.group(1)))
                .toList();
    }

    private ObservedSteps observed(RedisServer server, List<String> picture, String... places) throws IOException {
        Set<String> scripts = picture.stream()
                .flatMap(line -> SCRIPT.matcher(line).results())
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        return opened(new ObservedSteps(server, ID, Set.of(places), scripts));
    }

    private RedissonClient connected(RedisServer server) {
        RedissonClient redisson = TestConnections.open(server.address());
        opened(redisson::shutdown);
        return redisson;
    }

    private DelayQueue queue(RedisServer server, Durability durability) {
        return opened(DelayQueueClient.create(
                        connected(server),
                        ClientOptions.DEFAULTS
                                .withRequestTimeout(Duration.ofSeconds(20))
                                .withDurability(durability)))
                .queue("orders");
    }

    private static ScheduleRequest message(String id, Duration delay) {
        return ScheduleRequest.of(id, new byte[] {1}, DueTime.after(delay));
    }

    /** The message, for a consumer that works on one at a time, with a lease that is not extended. */
    private Delivery delivered(DelayQueue queue, Duration lease) throws Exception {
        BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        opened(threads::shutdownNow);
        queue.consume(
                ConsumerOptions.DEFAULTS
                        .withMaxMessagesPerPoll(1)
                        .withVisibilityTimeout(lease)
                        .withMaximumVisibilityExtension(Duration.ZERO),
                threads,
                deliveries::add);
        Delivery delivery = deliveries.poll(60, TimeUnit.SECONDS);
        assertThat(delivery).extracting(Delivery::id).isEqualTo(ID);
        return delivery;
    }

    @Test
    void should_draw_what_is_done_on_time() throws Exception {
        List<String> picture = picture(0);
        RedisServer server = opened(RedisServer.dedicated());
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setAddress(server.address());
        DefaultCamelContext context = opened(new DefaultCamelContext());
        context.addComponent("redis-delay", component);
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders").process(exchange -> received.add("order"));
            }
        });
        context.start();
        RedisSocket redis = opened(RedisSocket.open(server.address()));
        await("the consumer waits")
                .until(() -> redis.call("ZCARD redis-delay:{orders}:waiters").equals(":1"));

        ObservedSteps observed = observed(server, picture);
        context.createProducerTemplate()
                .sendBodyAndHeader("redis-delay:orders?delay=300ms", "x", RedisDelayConstants.SCHEDULE_ID, ID);
        assertThat(received.poll(60, TimeUnit.SECONDS)).isNotNull();
        await("it is acknowledged")
                .until(() -> redis.call("HLEN redis-delay:{orders}:messages").equals(":0"));

        assertThat(observed.steps()).isEqualTo(steps(picture, "Redis"));
    }

    @Test
    void should_draw_what_is_done_when_a_jvm_dies() throws Exception {
        List<String> picture = picture(1);
        RedisServer server = opened(RedisServer.dedicated());
        DelayQueue queue = queue(server, Durability.NONE);
        queue.schedule(message(ID, Duration.ZERO)).result().get();

        ObservedSteps observed = observed(server, picture, "messages", "delayed");
        Process first = new ProcessBuilder(JavaCommand.of(
                        ConsumerProcess.class,
                        server.address(),
                        ClientOptions.DEFAULT_KEY_PREFIX,
                        "orders",
                        "5000",
                        "1",
                        "die"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        opened(first::destroyForcibly);
        assertThat(first.waitFor()).isEqualTo(137);
        Delivery second = delivered(queue, LONG);
        assertThat(second.attempt()).isEqualTo(2);
        assertThat(second.redeliveryReason()).isEqualTo(RedeliveryReason.LEASE_EXPIRED);
        assertThat(second.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);

        int opt = picture.indexOf("opt the first JVM has only stood still");
        List<String> died = new ArrayList<>(picture);
        died.subList(opt, picture.indexOf("end")).clear();
        assertThat(observed.steps()).isEqualTo(steps(died, "Redis"));
    }

    @Test
    void should_draw_what_is_done_when_a_jvm_has_only_stood_still() throws Exception {
        List<String> picture = picture(1);
        RedisServer server = opened(RedisServer.dedicated());
        DelayQueue queue = queue(server, Durability.NONE);
        queue.schedule(message(ID, Duration.ZERO)).result().get();

        ObservedSteps observed = observed(server, picture, "messages", "delayed");
        Delivery first = delivered(queue, Duration.ofSeconds(5));
        Delivery second = delivered(queue, LONG);
        assertThat(picture)
                .contains("Redis-->>First: "
                        + first.settle(Settlement.ACKNOWLEDGE).result().get() + ", nothing is changed");
        assertThat(second.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);

        assertThat(observed.steps()).isEqualTo(steps(picture, "Redis"));
    }

    @Test
    void should_draw_what_is_done_when_redis_fails_over() throws Exception {
        List<String> picture = picture(2);
        MasterAndReplica servers = opened(new MasterAndReplica());
        DelayQueue queue = queue(servers.master, new Durability(1, false, Duration.ofSeconds(2)));
        // With the first one it asks whether this Redis can wait.
        queue.schedule(message("another one", Duration.ofHours(1))).result().get();

        ObservedSteps onMaster = observed(servers.master, picture);
        ObservedSteps onReplica = observed(servers.replica, picture);
        queue.schedule(message(ID, Duration.ZERO)).result().get();
        servers.disconnect();
        assertThat(delivered(queue, LONG)
                        .settle(Settlement.ACKNOWLEDGE)
                        .result()
                        .get())
                .isEqualTo(SettleResult.DONE);
        assertThat(onMaster.steps()).isEqualTo(steps(picture, "Master"));
        servers.master.kill();
        Delivery again = delivered(queue(servers.replica, Durability.NONE), LONG);
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(again.settle(Settlement.ACKNOWLEDGE).result().get()).isEqualTo(SettleResult.DONE);
        assertThat(onReplica.steps()).isEqualTo(steps(picture, "Replica"));
    }

    @Test
    void should_name_only_what_exists() throws IOException {
        String sources;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            sources = files.filter(file -> file.toString().matches(".*\\.(java|lua)"))
                    .map(GuaranteesPageIT::read)
                    .collect(Collectors.joining("\n"));
        }
        for (Block picture : pictures) {
            assertThat(picture.code()).startsWith("sequenceDiagram\n");
            assertThat(PARTICIPANT.matcher(picture.code()).results())
                    .as("participants of " + picture)
                    .hasSizeGreaterThan(2)
                    .allSatisfy(found -> assertThat(
                                    (found.group(2) == null ? found.group(1) : found.group(2)).split(",")[0])
                            .matches(name -> OTHER_PARTICIPANTS.contains(name)
                                    || sources.contains("public class " + name + " ")));
            assertThat(NAME.matcher(picture.code().substring(picture.code().indexOf('\n')))
                            .results()
                            .map(MatchResult::group))
                    .as("names in " + picture)
                    .isNotEmpty()
                    .allMatch(name -> isScript(name)
                            || Pattern.compile("\\b" + name.replace("redis-delay:", "") + "\\b")
                                    .matcher(sources)
                                    .find());
        }
        assertThat(pictures).hasSize(3);
    }

    private static boolean isScript(String name) {
        return Stream.of(LuaScript.values()).anyMatch(script -> name.equals(script.command() + ".lua"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
