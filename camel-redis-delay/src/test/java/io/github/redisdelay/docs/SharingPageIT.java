// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Follows docs/sharing-redis.md: makes its users, and has applications share a Redis as it says. */
class SharingPageIT {

    static final String PAGE = "docs/sharing-redis.md";

    private static final Pattern KEY = Pattern.compile("\"([^\"]+)\"");

    private final RedisServer redis = RedisServer.dedicated();
    private RedisSocket socket;

    /** A Camel context with the component; what it receives is among {@code received}. */
    private static final class Application implements AutoCloseable {

        final DefaultCamelContext context = new DefaultCamelContext();
        final List<String> received = new CopyOnWriteArrayList<>();

        Application(String address, Consumer<RedisDelayConfiguration> options) {
            RedisDelayComponent component = new RedisDelayComponent();
            component.getConfiguration().setAddress(address);
            options.accept(component.getConfiguration());
            context.disableJMX();
            context.getShutdownStrategy().setTimeout(10);
            context.addComponent("redis-delay", component);
            context.start();
        }

        Application consume() throws Exception {
            return consume(new CountDownLatch(0));
        }

        Application consume(CountDownLatch enough) throws Exception {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").process(exchange -> {
                        received.add(exchange.getMessage().getBody(String.class));
                        enough.countDown();
                        enough.await();
                    });
                }
            });
            return this;
        }

        void send(String uri, String body) {
            context.createProducerTemplate().sendBodyAndHeader(uri, body, "CamelRedisDelayScheduleId", body);
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

    @BeforeEach
    void open() throws IOException {
        socket = RedisSocket.open(redis.address());
    }

    @AfterEach
    void close() throws IOException {
        socket.close();
        redis.close();
    }

    private static List<Block> blocks() throws IOException {
        return Block.of(PAGE, Files.readAllLines(Block.ROOT.resolve(PAGE))).stream()
                .filter(SharingPageIT::follows)
                .toList();
    }

    /** Tells whether this test follows a block. */
    static boolean follows(Block block) {
        return block.page().equals(PAGE) && RedisCli.isAllOf(block);
    }

    /** The page's user, and another one that is made in the same way. */
    private static Stream<String> users() throws IOException {
        String shop = blocks().get(0).code().strip();
        return Stream.of(shop, shop.replace("shop", "crm").replace(">secret", ">other-secret"));
    }

    private Application of(String user, String password) {
        return of(user, password, user);
    }

    private Application of(String user, String password, String prefix) {
        return new Application(redis.address(), options -> {
            options.setUsername(user);
            options.setPassword(password);
            options.setKeyPrefix(prefix);
        });
    }

    private void makeUsers() throws IOException {
        for (String line : users().toList()) {
            RedisCli.of(line).check(socket);
        }
    }

    @Test
    void should_give_each_user_the_permissions_of_the_connections_page() throws IOException {
        Matcher line = Pattern.compile("(?m)^ACL SETUSER orders reset on >secret (.+)$")
                .matcher(Files.readString(Block.ROOT.resolve("docs/connections.md")));
        assertThat(line.find()).isTrue();
        assertThat(users().map(user -> RedisCli.of(user).words()))
                .extracting(words -> String.join(" ", words.subList(6, words.size())))
                .containsExactly(
                        line.group(1).replace("redis-delay:", "shop:"),
                        line.group(1).replace("redis-delay:", "crm:"));
    }

    @Test
    void should_keep_users_apart() throws Exception {
        makeUsers();
        try (Application shop = of("shop", "secret").consume();
                Application crm = of("crm", "other-secret").consume()) {
            shop.send("redis-delay:orders", "of the shop");
            crm.send("redis-delay:orders", "of crm");
            await().untilAsserted(() -> assertThat(shop.received).containsExactly("of the shop"));
            await().untilAsserted(() -> assertThat(crm.received).containsExactly("of crm"));
            shop.send("redis-delay:orders?delay=30m", "waits");
            await().untilAsserted(() -> {
                for (String line : blocks().get(1).code().lines().toList()) {
                    assertThat(socket.call("DEL crm:queues")).startsWith(":"); // the page speaks of one prefix
                    RedisCli.of(line).check(socket);
                }
            });
        }
        try (Application intruder = of("crm", "other-secret", "shop")) {
            assertThatThrownBy(() -> intruder.send("redis-delay:orders", "x")).hasStackTraceContaining("NOPERM");
            assertThatThrownBy(intruder::consume).hasStackTraceContaining("NOPERM");
        }
        assertThat(socket.call("HLEN shop:{orders}:messages")).isEqualTo(":1");
    }

    @Test
    void should_let_a_user_into_prefixes_that_begin_with_his_and_a_colon() throws Exception {
        makeUsers();
        try (Application test = of("shop", "secret", "shop:test")) {
            test.send("redis-delay:orders?delay=30m", "x");
            assertThat(socket.call("HLEN shop:test:{orders}:messages")).isEqualTo(":1");
        }
        try (Application test = of("shop", "secret", "shop-test")) {
            assertThatThrownBy(() -> test.send("redis-delay:orders?delay=30m", "x"))
                    .hasStackTraceContaining("NOPERM");
        }
    }

    @Test
    void should_do_with_one_queue_but_for_the_list() throws Exception {
        List<String> words = RedisCli.of(users().findFirst().orElseThrow()).words();
        assertThat(socket.shown(words.stream()
                        .map(word -> word.equals("~shop:*") ? "~shop:{orders}:*" : word)
                        .toList()))
                .isEqualTo("OK");
        try (Application shop = of("shop", "secret").consume()) {
            shop.send("redis-delay:orders", "x");
            await().untilAsserted(() -> assertThat(shop.received).containsExactly("x"));
            assertThatThrownBy(() -> shop.send("redis-delay:invoices", "x")).hasStackTraceContaining("NOPERM");
        }
        assertThat(socket.call("EXISTS shop:queues")).isEqualTo(":0");
    }

    @Test
    void should_separate_prefixes_and_databases_and_share_the_rest() throws Exception {
        try (Application one = new Application(redis.address(), options -> {});
                Application other = new Application(redis.address(), options -> {});
                Application prefix = new Application(redis.address(), options -> options.setKeyPrefix("other"));
                Application database = new Application(redis.address(), options -> options.setDatabase(1))) {
            one.send("redis-delay:orders?delay=30m", "x");
            assertThat(prefix.stats().get("delayed")).isEqualTo(0L);
            assertThat(database.stats().get("delayed")).isEqualTo(0L);
            assertThat(other.stats().get("delayed")).isEqualTo(1L);
            assertThatThrownBy(() -> other.send("redis-delay:orders?delay=30m", "x"))
                    .hasStackTraceContaining("DuplicateMessageException");
            database.send("redis-delay:orders?delay=30m", "x");
            CountDownLatch both = new CountDownLatch(2); // each is kept busy until the other one has a message
            one.consume(both);
            other.consume(both);
            one.send("redis-delay:orders", "y");
            one.send("redis-delay:orders", "z");
            await().untilAsserted(() -> {
                assertThat(one.received).hasSize(1);
                assertThat(other.received).hasSize(1).doesNotContainAnyElementsOf(one.received);
            });
            one.send("redis-delay:orders?operation=pause", "-");
            assertThat(other.stats().get("paused")).isEqualTo(true);
            assertThat(prefix.stats().get("paused")).isEqualTo(false);
        }
    }

    @Test
    void should_let_expire_what_holds_no_message() throws Exception {
        try (Application one = new Application(redis.address(), options -> {}).consume()) {
            one.send("redis-delay:orders?deduplicationPeriod=1h", "x");
            await().untilAsserted(() -> assertThat(one.received).containsExactly("x"));
            one.send("redis-delay:orders?delay=30m&priority=5", "y");
            one.send("redis-delay:orders?delay=30m", "z");
            one.send("redis-delay:orders?operation=pause", "-");
            await().untilAsserted(() -> assertThat(expiring())
                    .containsExactlyInAnyOrder(
                            "redis-delay:{orders}:sessions",
                            "redis-delay:{orders}:consumers",
                            "redis-delay:{orders}:waiters",
                            "redis-delay:{orders}:seen",
                            "redis-delay:{orders}:dead:config",
                            "redis-delay:queues"));
        }
    }

    private List<String> expiring() throws IOException {
        List<String> keys = new ArrayList<>();
        for (Matcher key = KEY.matcher(socket.shown(List.of("KEYS", "*"))); key.find(); ) {
            if (!socket.call("TTL " + key.group(1)).equals(":-1")) {
                keys.add(key.group(1));
            }
        }
        return keys;
    }
}
