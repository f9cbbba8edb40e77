// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.model.ModelCamelContext;
import org.apache.camel.model.RouteTemplateParameterDefinition;
import org.apache.camel.spi.PropertyConfigurerGetter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs the kamelets of the component's jar on a Redis with a password. */
class KameletsIT {

    /** Of characters that mean something in a URI. */
    private static final String PASSWORD = "p&a=s+w?x";

    private static final Map<String, String> SINK = Map.of(
            "delay", "30m",
            "group", "acme",
            "timeToLive", "2h",
            "onDuplicate", "replace",
            "deduplicationPeriod", "1h",
            "keyPrefix", "shop");

    private static final Map<String, String> SOURCE = Map.ofEntries(
            Map.entry("concurrentConsumers", "4"),
            Map.entry("groupConcurrency", "2"),
            Map.entry("groupRetry", "relaxed"),
            Map.entry("rate", "10/1s"),
            Map.entry("groupRate", "5/1s:2"),
            Map.entry("queueConcurrency", "3"),
            Map.entry("visibilityTimeout", "77s"),
            Map.entry("maximumRedeliveries", "3"),
            Map.entry("redeliveryDelay", "5s"),
            Map.entry("redeliveryDelays", "1s,2s"),
            Map.entry("cron", "0 2 * * *"),
            Map.entry("timeZone", "Asia/Tokyo"),
            Map.entry("group", "acme"),
            Map.entry("keyPrefix", "shop"));

    private static RedisServer server;

    private static Map<String, String> connection;

    private final DefaultCamelContext context = CamelRedisIT.newContext();

    @BeforeAll
    static void startServer() {
        server = RedisServer.dedicated("requirepass " + PASSWORD);
        connection = Map.of("address", server.address(), "username", "default", "password", PASSWORD);
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @AfterEach
    void closeContext() throws IOException {
        context.close();
    }

    /** For all uses of the kamelets. */
    private void connectKamelets() {
        connection.forEach((name, value) -> {
            context.getPropertiesComponent().addInitialProperty("camel.kamelet.redis-delay-sink." + name, value);
            context.getPropertiesComponent().addInitialProperty("camel.kamelet.redis-delay-source." + name, value);
        });
    }

    @Test
    void should_pass_each_property_of_the_sink() throws Exception {
        connectKamelets();
        route("direct:orderPlaced", "kamelet:redis-delay-sink?queueName=orders&" + query(SINK));
        assertPassed("redis-delay-sink", SINK, "priority");
    }

    @Test
    void should_pass_each_property_of_the_source() throws Exception {
        connectKamelets();
        route("kamelet:redis-delay-source?queueName=orders&" + query(SOURCE), "log:orders");
        assertPassed("redis-delay-source", SOURCE, "every");
    }

    @Test
    void should_run_at_each_interval() throws Exception {
        connectKamelets();
        BlockingQueue<Message> received = new LinkedBlockingQueue<>();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("kamelet:redis-delay-source?queueName=poll&every=1s")
                        .process(exchange -> received.add(exchange.getMessage().copy()));
            }
        });
        context.start();
        Message run = received.poll(10, TimeUnit.SECONDS);
        assertThat(run).isNotNull();
        assertThat(run.getHeader("CamelRedisDelayRule")).isEqualTo("every 1s");
    }

    @Test
    void should_leave_what_is_not_set_to_the_component() throws Exception {
        RedisDelayConfiguration options =
                context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
        options.setAddress(server.address());
        options.setUsername("default");
        options.setPassword(PASSWORD);
        options.setKeyPrefix("component");
        options.setConcurrentConsumers(7);
        route("kamelet:redis-delay-source?queueName=orders", "log:orders");
        connection.forEach((name, value) -> assertThat(option(name)).as(name).isEqualTo(value));
        assertThat(option("keyPrefix")).isEqualTo("component");
        assertThat(option("concurrentConsumers")).isEqualTo(7);
    }

    @Test
    void should_schedule_and_receive() throws Exception {
        connectKamelets();
        BlockingQueue<Message> received = new LinkedBlockingQueue<>();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:orderPlaced").to("kamelet:redis-delay-sink?queueName=orders&delay=30m&priority=3");
                from("direct:orderOfAcme").to("kamelet:redis-delay-sink?queueName=orders&group=acme");
                from("kamelet:redis-delay-source?queueName=orders")
                        .process(exchange -> received.add(exchange.getMessage().copy()));
            }
        });
        context.start();
        Message later = context.createProducerTemplate()
                .request("direct:orderPlaced", exchange -> exchange.getMessage().setBody("later"))
                .getMessage();
        assertThat(later.getHeader("CamelRedisDelayDueTime", Long.class)
                        - later.getHeader("CamelRedisDelayScheduledTime", Long.class))
                .isEqualTo(TimeUnit.MINUTES.toMillis(30));
        context.createProducerTemplate().sendBodyAndHeader("direct:orderPlaced", "now", "CamelRedisDelayDelay", "0ms");
        Message now = received.poll(10, TimeUnit.SECONDS);
        assertThat(now).isNotNull();
        assertThat(now.getBody(String.class)).isEqualTo("now");
        context.createProducerTemplate().sendBody("direct:orderOfAcme", "of acme");
        Message grouped = received.poll(10, TimeUnit.SECONDS);
        assertThat(grouped).isNotNull();
        assertThat(grouped.getHeader("CamelRedisDelayMessageGroup")).isEqualTo("acme");
        assertThat(context.createProducerTemplate()
                        .requestBodyAndHeader("direct:orderPlaced", null, "CamelRedisDelayOperation", "list")
                        .toString())
                .contains("priority=3");
    }

    private void route(String from, String to) throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(from).to(to);
            }
        });
        context.start();
    }

    private static String query(Map<String, String> properties) {
        return properties.entrySet().stream().map(String::valueOf).collect(Collectors.joining("&"));
    }

    /** @param others the properties that exclude one of these */
    private void assertPassed(String kamelet, Map<String, String> properties, String... others) {
        Map<String, String> expected = new HashMap<>(properties);
        expected.putAll(connection);
        List<String> names = new ArrayList<>(expected.keySet());
        names.addAll(List.of(others));
        assertThat(((ModelCamelContext) context)
                        .getRouteTemplateDefinition(kamelet).getTemplateParameters().stream()
                                .map(RouteTemplateParameterDefinition::getName)
                                .filter(name -> !name.equals("queueName")))
                .as("a value for each property")
                .containsExactlyInAnyOrderElementsOf(names);
        expected.forEach((name, value) -> assertThat(option(name)).as(name).hasToString(value));
    }

    /** The value of an option on the endpoint of the component. */
    private Object option(String name) {
        RedisDelayEndpoint endpoint = context.getEndpoints().stream()
                .filter(RedisDelayEndpoint.class::isInstance)
                .map(RedisDelayEndpoint.class::cast)
                .findFirst()
                .orElseThrow();
        return ((PropertyConfigurerGetter) endpoint.getComponent().getEndpointPropertyConfigurer())
                .getOptionValue(endpoint, name, true);
    }
}
