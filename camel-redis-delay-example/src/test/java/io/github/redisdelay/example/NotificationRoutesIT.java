// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.http.HttpComponent;
import org.apache.camel.component.http.HttpEndpoint;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.core5.util.Timeout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** The requests to the partner and the effects of its answers, with a partner of the test's own. */
class NotificationRoutesIT extends CamelTestSupport {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    /** A try: when, and the message as the partner got it. */
    private record Try(long nanos, String body, Map<String, Object> headers) {}

    private final List<Try> tries = new CopyOnWriteArrayList<>();
    private ShopDatabase database;
    private String url;

    @Override
    protected void bindToRegistry(Registry registry) {
        database = ShopDatabase.open(folder);
        registry.bind("redisson", RedissonClient.class, redis.client());
        registry.bind("stories", database.dataSource());
    }

    private void start(String steps, Processor answer) throws Exception {
        int port = TestPorts.next();
        url = "http://localhost:" + port + "/told";
        context.getPropertiesComponent().addOverrideProperty("consume", "true");
        // As in application.properties, which only Camel Main reads.
        context.getComponent("http", HttpComponent.class).setAutomaticRetriesDisabled(true);
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("jetty:" + url)
                        .process(exchange -> tries.add(new Try(
                                System.nanoTime(),
                                exchange.getMessage().getBody(String.class),
                                new HashMap<>(exchange.getMessage().getHeaders()))))
                        .process(answer);
            }
        });
        // A partner that is slow because the machine is busy shall not be tried once more.
        context.getCamelContextExtension().registerEndpointCallback((uri, endpoint) -> {
            if (endpoint instanceof HttpEndpoint http) {
                http.getClientBuilder()
                        .setDefaultRequestConfig(RequestConfig.custom()
                                .setResponseTimeout(Timeout.ofSeconds(30))
                                .build());
            }
            return endpoint;
        });
        context.addRoutes(new NotificationRoutes(
                new ShopTime(1).realSteps(steps), new RetryAfter(Duration.ofHours(1), Clock.systemUTC())));
    }

    @AfterEach
    void stop() {
        context.stop();
        database.close();
    }

    @Test
    void thePartnerIsSentTheOrdersFateAndNothingOfTheShops() throws Exception {
        start("1ms", exchange -> {});

        template.sendBodyAndHeader("direct:notify", new Notification("A-1", "paid", url), "secret", "of the shop");

        await().until(() -> tries.size() == 1);
        assertThat(tries.get(0).body()).isEqualTo("{\"order\":\"A-1\",\"event\":\"paid\"}");
        assertThat(tries.get(0).headers())
                .containsEntry("Content-Type", "application/json")
                .containsEntry(PartnerRoutes.ATTEMPT, "1")
                .doesNotContainKeys("secret", NotificationUrl.HEADER);
    }

    @Test
    void retryAfterReplacesTheStep() throws Exception {
        start("1ms", exchange -> {
            if (tries.size() == 1) {
                answer(exchange, 429);
                exchange.getMessage().setHeader("Retry-After", "1");
            }
        });

        template.sendBody("direct:notify", new Notification("A-1", "paid", url));

        await().until(() -> log.lines("notify   A-1  try 2: delivered").size() == 1);
        assertThat(tries).hasSize(2);
        assertThat(Duration.ofNanos(tries.get(1).nanos() - tries.get(0).nanos()))
                .isBetween(Duration.ofMillis(990), Duration.ofSeconds(5));
    }

    @Test
    void anythingButA200IsTriedAgainByTheSteps() throws Exception {
        int[] codes = {500, 202, 302, 404, 200};
        start("1ms,1ms,1ms,1ms,1ms", exchange -> answer(exchange, codes[tries.size() - 1]));

        template.sendBody("direct:notify", new Notification("A-1", "paid", url));

        await().until(() -> log.lines("notify   A-1  try 5: delivered").size() == 1);
        assertThat(tries).hasSize(5);
        assertThat(failed()).isEmpty();
    }

    @Test
    void whatIsPlannedTwiceIsSentOnce() throws Exception {
        start("1ms", exchange -> {});
        template.sendBody("direct:notify", new Notification("A-1", "paid", url));
        await().until(() -> log.lines("notify   A-1", "delivered").size() == 1);
        await().until(() ->
                redis.client().getMap("redis-delay:{notifications}:messages").isEmpty());

        template.sendBody("direct:notify", new Notification("A-1", "paid", url));
        template.sendBody("direct:notify", new Notification("A-2", "paid", url));

        await().until(() -> log.lines("notify   A-2", "delivered").size() == 1);
        assertThat(tries).hasSize(2);
    }

    @Test
    void aUrlThatSomebodyElsePutIntoTheQueueIsNotCalled() throws Exception {
        start("1ms", exchange -> {});

        template.sendBodyAndHeaders(
                "redis-delay:notifications",
                "{}",
                Map.of(RedisDelayConstants.SCHEDULE_ID, "A-1", NotificationUrl.HEADER, url + "?bridgeEndpoint=true"));

        await().until(() -> failed().size() == 1);
        assertThat(failed().get(0)).containsEntry("order_id", "A-1").containsEntry("attempts", 1);
        assertThat((String) failed().get(0).get("reason")).contains("notifyUrl '" + url + "?bridgeEndpoint=true'");
        assertThat(tries).isEmpty();
    }

    @Test
    void aPartnerThatDoesNotLetTheShopInIsNotTriedAgain() throws Exception {
        start("1ms,1ms", exchange -> answer(exchange, 403));

        template.sendBody("direct:notify", new Notification("A-1", "paid", url));

        await().until(() -> failed().size() == 1);
        assertThat(failed().get(0)).containsEntry("reason", "the partner does not let us in");
        assertThat(tries).hasSize(1);
    }

    private List<Map<String, Object>> failed() {
        return new ShopRows(folder).of("SELECT * FROM failed_notification");
    }

    private static void answer(Exchange exchange, int status) {
        exchange.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, status);
    }
}
