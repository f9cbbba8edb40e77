// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.unpaid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.orders.Order;
import com.example.orders.OrderService;
import com.example.orders.OrderTable;
import com.example.orders.OrdersApplication;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.redisdelay.test.RedisExtension;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.model.ModelCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.autoconfigure.actuate.observability.AutoConfigureObservability;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The files of {@code docs/unpaid-orders.md}, and of its translation, are those of this module; its commands get its answers. */
@SpringBootTest(classes = OrdersApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureObservability // Spring Boot leaves out Prometheus in tests
@DirtiesContext
class UnpaidOrdersPageIT {

    /** A path at the beginning of a line, and the next block. */
    private static final Pattern FILE = Pattern.compile("(?m)^`((?:pom|src/)[^`]+)`(?:(?!```)[^`]|`[^`])*```\\w+\\n");

    private static final Pattern COMMAND = Pattern.compile("```sh\\n(curl .*)\\n```\\s+```(\\w+)\\n(.*)\\n```");
    private static final Pattern CURL =
            Pattern.compile("curl (?:-H '(.+): (.+)' -d '(.+)' )?(?:-X (POST) )?localhost:8080(/\\S+)");
    private static final Pattern ROUTES = Pattern.compile("(?s)```yaml\\n(- route:.*?)```");
    private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
    private static final Pattern FIRST_COMMENT = Pattern.compile("^(?://|#) SPDX.*\\n");

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    static final String PREFIX = redis.keyPrefix();

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.host", () -> redis.server().host());
        properties.add("spring.data.redis.port", () -> redis.server().port());
        properties.add("camel.component.redis-delay.key-prefix", () -> PREFIX);
    }

    @LocalServerPort
    int port;

    @Autowired
    ObjectMapper json;

    @Autowired
    CamelContext camel;

    @ParameterizedTest
    @ValueSource(strings = {"unpaid-orders.md", "unpaid-orders.zh-CN.md"})
    void should_have_the_files_of_this_module(String page) throws IOException {
        Map<String, String> shown = files(page);
        assertThat(shown.keySet()).first().isEqualTo("pom.xml");
        List<String> dependencies = dependencies(Files.readString(Path.of("pom.xml")));
        assertThat(dependencies(shown.remove("pom.xml")))
                .isEqualTo(dependencies.stream()
                        .filter(dependency -> !dependency.contains("camel-yaml-dsl-starter"))
                        .toList());
        Map<String, String> own = new LinkedHashMap<>();
        try (Stream<Path> files = Files.walk(Path.of("src"))) {
            for (Path file : files.filter(
                            each -> each.toString().matches("src/(main/.*|test/java/com/.*)\\.(yml|java)"))
                    .toList()) {
                String text = Files.readString(file);
                own.put(
                        file.toString(),
                        withoutSpace(FIRST_COMMENT.matcher(text).replaceFirst("")));
            }
        }
        shown.replaceAll((path, text) -> withoutSpace(text));
        assertThat(shown).containsExactlyInAnyOrderEntriesOf(own);
    }

    @Test
    void should_answer_as_the_page_shows() throws Exception {
        List<MatchResult> commands =
                COMMAND.matcher(page("unpaid-orders.md")).results().toList();
        assertThat(commands).hasSize(4);
        for (MatchResult command : commands) {
            String answer = send(command.group(1));
            if (command.group(2).equals("json")) {
                assertThat(part(json.readTree(answer), json.readTree(command.group(3))))
                        .isEmpty();
            } else {
                assertThat(answer).contains(command.group(3));
            }
        }
        assertThat(send("curl localhost:8080/redis-delay/")).contains("<html");
    }

    @Test
    void should_do_the_same_by_the_routes_in_yaml(@TempDir Path folder) throws IOException {
        MatchResult routes =
                ROUTES.matcher(page("unpaid-orders.md")).results().findFirst().orElseThrow();
        Path file = Files.writeString(folder.resolve("orders.yaml"), routes.group(1));
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(OrdersApplication.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.data.redis.host=" + redis.server().host(),
                        "--spring.data.redis.port=" + redis.server().port(),
                        "--camel.component.redis-delay.key-prefix=" + PREFIX + "-yaml",
                        "--camel.redis-delay.console.enabled=false",
                        "--camel.main.java-routes-exclude-pattern=**/OrderRoutes",
                        "--camel.main.routes-include-pattern=file:" + file)) {
            assertThat(routes(application.getBean(CamelContext.class))).isEqualTo(routes(camel));
            OrderService service = application.getBean(OrderService.class);
            service.place(new Order("A-1", "Ada", new BigDecimal("12.5")));
            assertThat(service.message("A-1")).isEqualTo("delayed");
            application.getBean(ProducerTemplate.class).sendBody("redis-delay:orders?operation=promote&all=true", null);
            await().until(() ->
                    application.getBean(OrderTable.class).state("A-1").equals("CLOSED"));
        }
    }

    /** What the model prints, but for generated names and the ways to write it. */
    private static List<String> routes(CamelContext context) {
        return ((ModelCamelContext) context)
                .getRouteDefinitions().stream()
                        .map(route -> (route + " " + route.getErrorHandlerFactory())
                                .replaceAll("@[0-9a-f]+|^Route\\(route\\d+\\)", "")
                                .replaceAll("[\\w.]+\\.NoErrorHandler\\w+", "NoErrorHandler"))
                        .toList();
    }

    /** The fields that an answer does not have as the page shows them. */
    private static List<String> part(JsonNode answer, JsonNode shown) {
        return shown.properties().stream()
                .flatMap(field -> field.getValue().isObject()
                        ? part(answer.path(field.getKey()), field.getValue()).stream()
                        : Stream.of(field.getKey() + ": " + answer.path(field.getKey()))
                                .filter(found -> !field.getValue().equals(answer.path(field.getKey()))))
                .toList();
    }

    private String send(String command) throws IOException, InterruptedException {
        MatchResult curl = CURL.matcher(command).results().findFirst().orElseThrow();
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + curl.group(5)));
        if (curl.group(3) != null) {
            request.header(curl.group(1), curl.group(2)).POST(BodyPublishers.ofString(curl.group(3)));
        } else if (curl.group(4) != null) {
            request.POST(BodyPublishers.noBody());
        }
        return HttpClient.newHttpClient()
                .send(request.build(), BodyHandlers.ofString())
                .body();
    }

    private static Map<String, String> files(String page) throws IOException {
        String text = page(page);
        Map<String, String> files = new LinkedHashMap<>();
        FILE.matcher(text)
                .results()
                .forEach(file -> files.put(file.group(1), text.substring(file.end(), text.indexOf("```", file.end()))));
        return files;
    }

    /** Their groups and names, and scopes: the module has its versions from elsewhere. */
    private static List<String> dependencies(String pom) {
        return DEPENDENCY
                .matcher(pom.substring(pom.lastIndexOf("<dependencies>")))
                .results()
                .map(found -> withoutSpace(found.group(1)).replaceAll("<version>.*?</version>", ""))
                .toList();
    }

    private static String page(String page) throws IOException {
        return Files.readString(Path.of("../docs").resolve(page));
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }
}
