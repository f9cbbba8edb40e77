// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The part of {@code docs/monitoring.md} on Camel Main, as it stands there but for the port. */
class MonitoringIT {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    private static String block(String language) throws IOException {
        String page = Files.readString(Path.of("../docs/monitoring.md"));
        String fence = "```" + language + "\n";
        int begin = page.indexOf(fence) + fence.length();
        return page.substring(begin, page.indexOf("```", begin));
    }

    @Test
    void should_show_the_meters_where_Prometheus_reads_them() throws Exception {
        int port = TestPorts.next();
        Properties properties = new Properties();
        properties.load(new StringReader(block("properties")));
        properties.setProperty("camel.management.port", String.valueOf(port));
        properties.setProperty("camel.component.redis-delay.address", redis.address());
        Main main = new Main();
        main.setInitialProperties(properties);
        main.configure().addRoutesBuilder(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:in").to("redis-delay:orders");
                from("redis-delay:orders").routeId("orders").to("log:orders");
            }
        });
        main.start();
        try {
            main.getCamelTemplate().sendBody("direct:in", "x");
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest scrape = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/observe/metrics"))
                    .build();
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(client.send(scrape, HttpResponse.BodyHandlers.ofString())
                                    .body())
                            .containsPattern(
                                    "camel_redis_delay_delivered_total\\{[^}]*queue=\"orders\",routeId=\"orders\"[^}]*} 1\\.0")
                            .containsPattern("camel_redis_delay_delayed\\{[^}]*queue=\"orders\"[^}]*} 0\\.0")
                            .contains("camel_exchanges_total"));
        } finally {
            main.stop();
        }
    }

    @Test
    void should_name_the_modules_that_it_is_tested_with() throws IOException {
        List<String> named = Pattern.compile("<artifactId>.*?</artifactId>")
                .matcher(block("xml"))
                .results()
                .map(MatchResult::group)
                .toList();
        assertThat(named).hasSize(2);
        assertThat(Files.readString(Path.of("pom.xml"))).contains(named);
    }
}
