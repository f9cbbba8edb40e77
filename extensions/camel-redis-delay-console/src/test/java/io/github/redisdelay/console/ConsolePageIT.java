// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.test.TestPorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs what docs/console.md shows. That each block of Java there is one of the project's is asserted by PagesIT. */
class ConsolePageIT {

    private static final Pattern CAUSE = Pattern.compile("\"cause\":\"[^\"]+\"");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\n(.*?)^```");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");
    private static final String ADDRESS = "http://127.0.0.1:8400/";

    private final RedisServer redis = RedisServer.dedicated();
    private final HttpClient http = HttpClient.newHttpClient();

    @AfterEach
    void stop() {
        redis.close();
    }

    /** The code that listens on a port of its own choice elsewhere in the tests: here it is compiled. */
    static final class Shown {

        private Shown() {}

        static void inOneLine(CamelContext camelContext) {
            RedisDelayConsole.on(camelContext).start();
        }

        static void withPassword(CamelContext camelContext, String hash) {
            RedisDelayConsole.on(camelContext)
                    .host("0.0.0.0")
                    .hostNames("queues.example.org")
                    .access(ConsoleAccess.basic("ann", hash))
                    .start();
        }
    }

    private static List<String> blocks(String language) throws IOException {
        return BLOCK.matcher(Files.readString(Path.of("../../docs/console.md")))
                .results()
                .filter(block -> block.group(1).equals(language))
                .map(block -> block.group(2))
                .toList();
    }

    private DefaultCamelContext context() {
        DefaultCamelContext context = new DefaultCamelContext();
        context.getPropertiesComponent().addInitialProperty("camel.component.redis-delay.address", redis.address());
        return context;
    }

    private String get(String url) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                .body();
    }

    @Test
    void should_listen_at_the_address_of_the_page() {
        assertThat(ADDRESS).isEqualTo("http://127.0.0.1:" + ConsoleOptions.DEFAULT_PORT + "/");
    }

    @Test
    void should_be_started_by_the_properties() throws Exception {
        int port = TestPorts.next();
        try (DefaultCamelContext context = context()) {
            for (String line : blocks("properties").get(0).lines().toList()) {
                String[] parts = line.split("=", 2);
                context.getPropertiesComponent().addInitialProperty(parts[0], parts[1]);
            }
            context.getPropertiesComponent().addInitialProperty("camel.redis-delay.console.port", String.valueOf(port));
            context.start();
            assertThat(get("http://127.0.0.1:" + port + "/api/me")).contains("\"environment\":\"STAGING\"");
        }
    }

    @Test
    void should_answer_to_the_commands() throws Exception {
        try (DefaultCamelContext context = context()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders?maximumRedeliveries=0&address=" + redis.address())
                            .errorHandler(noErrorHandler())
                            .throwException(new IllegalStateException("on purpose"));
                }
            });
            context.start();
            String uri = "redis-delay:orders?delay=30m&address=" + redis.address();
            context.createProducerTemplate().sendBodyAndHeader(uri, "body", "CamelRedisDelayScheduleId", "order-1");
            context.createProducerTemplate().sendBodyAndHeader(uri, "body", "CamelRedisDelayDelay", "0");
            try (RedisDelayConsole console =
                    RedisDelayConsole.on(context).port(0).actions(true).start()) {
                List<String> commands = blocks("sh").get(0).lines().toList();
                assertThat(commands).hasSize(5);
                String failures = console.url() + "api/failures?queue=orders";
                Matcher group = await().until(() -> CAUSE.matcher(get(failures)), Matcher::find);
                for (String command : commands) {
                    // The page's group is one of another day.
                    String ours = CAUSE.matcher(command)
                            .replaceFirst(group.group())
                            .replaceFirst("\"count\":3", "\"count\":1");
                    HttpResponse<String> answer = curl(ours, console.url());
                    assertThat(answer.statusCode())
                            .as(ours + answer.body())
                            .isEqualTo(ours.endsWith("redrive") ? 202 : 200);
                }
                // The queue is paused: what was sent again waits.
                await().untilAsserted(() ->
                        assertThat(CAUSE.matcher(get(failures)).find()).isFalse());
                await().untilAsserted(() -> assertThat(get(console.url() + "api/queues"))
                        .contains("\"name\":\"orders\",\"state\":\"paused\""));
            }
        }
    }

    private HttpResponse<String> curl(String command, String url) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder();
        Matcher words = WORD.matcher(command);
        for (words.find(); words.find(); ) { // the first one is curl
            switch (words.group()) {
                case "-H" ->
                    request.header(next(words).split(": ")[0], words.group(1).split(": ")[1]);
                case "-d" -> request.POST(BodyPublishers.ofString(next(words)));
                default -> {
                    String address = words.group(1) == null ? words.group() : words.group(1);
                    assertThat(address).startsWith(ADDRESS);
                    request.uri(URI.create(address.replace(ADDRESS, url)));
                }
            }
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private static String next(Matcher words) {
        assertThat(words.find()).isTrue();
        return words.group(1);
    }

    @Test
    void should_let_ann_do_all_and_others_look() {
        ConsoleAccess mine = request -> request.principal()
                .map(user -> user.equals("ann") ? ConsoleRights.all() : ConsoleRights.read())
                .orElse(ConsoleRights.none());

        assertThat(mine.rights(by("ann")).actions("orders")).containsExactlyInAnyOrder(ConsoleAction.values());
        assertThat(mine.rights(by("bob")).canRead("orders")).isTrue();
        assertThat(mine.rights(by("bob")).actions("orders")).isEmpty();
        assertThat(mine.rights(by(null)).any()).isFalse();
    }

    private static ConsoleRequest by(String user) {
        return new ConsoleRequest() {
            @Override
            public String peer() {
                return "127.0.0.1";
            }

            @Override
            public boolean isLocal() {
                return true;
            }

            @Override
            public Optional<String> header(String name) {
                return Optional.empty();
            }

            @Override
            public Optional<String> principal() {
                return Optional.ofNullable(user);
            }
        };
    }
}
