// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.delivery.ConsumerDeliveries;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.AllLogs;
import io.github.redisdelay.testkit.LogLines;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The error for an operator when Redis cannot be reached: one sentence with the address and the cause. */
class ConnectionErrorsIT {

    private final DefaultCamelContext context = CamelRedisIT.newContext();

    @AfterEach
    void close() throws Exception {
        context.close();
    }

    private RedisDelayConfiguration options() {
        return context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private void start() throws Exception {
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:q3").routeId("consumer").process(exchange -> {});
            }
        });
        context.start();
    }

    /** The messages of an error and of what has caused it. */
    private static List<String> messages(Throwable error) {
        List<String> messages = new ArrayList<>();
        for (Throwable e = error; e != null; e = e.getCause()) {
            messages.add(e.getMessage());
        }
        return messages;
    }

    private static String hostAndPort(RedisServer server) {
        return server.address().substring("redis://".length());
    }

    /** The cause where a server has gone to which a client was connected. Redisson 3 does not tell that it was refused. */
    private static String refused(String more) {
        return RedissonVersion.IS_3 ? "Unable to write command into connection" : "Connection refused" + more;
    }

    @Test
    void should_say_in_one_sentence_that_nothing_listens() {
        options().setAddress("redis://127.0.0.1:1");
        assertThat(messages(catchThrowable(this::start)))
                .contains("queue 'q3': Redis at redis://127.0.0.1:1 cannot be used: Connection refused");
    }

    @Test
    void should_say_in_one_sentence_that_the_password_is_wrong() throws Exception {
        try (RedisServer server = RedisServer.dedicated("requirepass right-one")) {
            options().setAddress(server.address());
            options().setPassword("wrong-one");
            assertThat(messages(catchThrowable(this::start)))
                    .contains("queue 'q3': Redis at " + server.address()
                            + " cannot be used: WRONGPASS invalid username-password pair or user is disabled.");
        }
    }

    @Test
    void should_say_in_one_sentence_that_a_given_client_has_no_redis() throws Exception {
        RedissonClient given;
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
            given = Redisson.create(config);
            server.stop();
            options().setRedisson(given);
            options().setRequestTimeout("1s");
            assertThat(messages(catchThrowable(this::start)))
                    .contains("queue 'q3': Redis at " + server.address() + " cannot be used: " + refused(""));
        } finally {
            context.stop();
        }
        given.shutdown();
    }

    @Test
    void should_say_in_one_sentence_that_a_server_does_not_answer() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
            RedissonClient given = Redisson.create(config);
            options().setRedisson(given);
            options().setRequestTimeout("300ms");
            try (Socket socket = new Socket(server.host(), server.port())) {
                socket.getOutputStream().write("CLIENT PAUSE 60000 ALL\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII))
                        .isEqualTo("+OK");
                assertThat(messages(catchThrowable(this::start)))
                        .contains("queue 'q3': Redis at " + server.address()
                                + " cannot be used: no answer within PT0.3S");
            } finally {
                context.stop();
                given.shutdown();
            }
        }
    }

    @Test
    void should_log_a_schedule_that_fails_without_the_stacks_of_redisson() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                AllLogs logs = new AllLogs(Level.INFO)) {
            options().setAddress(server.address());
            options().setRequestTimeout("300ms");
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("timer:shop?repeatCount=1&delay=0")
                            .routeId("shop")
                            .autoStartup(false)
                            .to("redis-delay:q3");
                }
            });
            start();
            server.kill();
            context.getRouteController().startRoute("shop");
            List<String> printed = new ArrayList<>();
            await().untilAsserted(() -> {
                printed.clear();
                logs.lines().stream()
                        .filter(line -> line.contains("RequestTimeoutException"))
                        .flatMap(String::lines)
                        .forEach(printed::add);
                assertThat(printed).anyMatch(line -> line.contains("DefaultErrorHandler"));
                assertThat(printed).anyMatch(line -> line.contains("TimerConsumer"));
            });
            assertThat(printed)
                    .as("Camel's lines about one failure, with its history of the route")
                    .noneMatch(line -> line.startsWith("\tat ") || line.contains("EVALSHA"))
                    .hasSizeLessThan(30);
            assertThat(printed).anyMatch(line -> line.contains("queue 'q3': Redis at " + server.address()));
        }
    }

    @Test
    void should_name_address_and_cause_while_redis_is_away() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                LogLines log = new LogLines(ConsumerDeliveries.class)) {
            options().setAddress(server.address());
            options().setRequestTimeout("2s");
            start();
            RedisDelayConsumer consumer =
                    (RedisDelayConsumer) context.getRoute("consumer").getConsumer();
            server.kill();
            String refused = refused(": " + hostAndPort(server));
            // Something has to make the consumer look. A connection that is cut has another cause than one that is
            // refused.
            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                consumer.claims().suspend();
                consumer.claims().resume();
                HealthCheck.Result down = consumer.healthCheck(Duration.ZERO).call();
                assertThat(down.getMessage().orElse(""))
                        .matches("queue 'q3': no message could be received from \\Q" + server.address()
                                + "\\E for \\d+ m?s: \\Q" + refused + "\\E");
            });
            await().untilAsserted(() -> assertThat(
                            log.of(Level.WARN).stream().filter(line -> line.contains("no message can be received")))
                    .singleElement()
                    .asString()
                    .startsWith("queue 'q3': no message can be received from " + server.address()
                            + ", trying again until it works: ")
                    .doesNotContain("Unexpected exception")
                    .doesNotContain("EVALSHA"));
            assertThatThrownBy(() -> context.createProducerTemplate().sendBody("redis-delay:q3", "x"))
                    .cause()
                    .isInstanceOf(RequestTimeoutException.class)
                    .hasMessageMatching("queue 'q3': Redis at \\Q" + server.address()
                            + "\\E did not answer in time; message '.*' .* \\(\\Q"
                            + refused
                            + "\\E\\)");
            context.stop();
        }
    }
}
