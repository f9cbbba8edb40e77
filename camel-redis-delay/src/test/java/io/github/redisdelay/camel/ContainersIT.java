// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.redisdelay.test.RedisServer;
import java.net.ConnectException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.testcontainers.DockerClientFactory;

/**
 * The basic stories on the images that people run today, skipped where no container engine runs: nobody needs one to build
 * this.
 */
class ContainersIT {

    private static final String URI = "redis-delay:orders";

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();
    private volatile boolean partnerIsAway = true;

    @ParameterizedTest
    @CsvSource({"redis:8, everysec", "valkey/valkey:8, always"})
    void should_tell_the_basic_stories(String image, String appendfsync) throws Exception {
        assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "no container engine was found: start Docker, or another one that Testcontainers finds, to try "
                        + image);
        try (RedisServer server = RedisServer.container(image, "appendonly yes", "appendfsync " + appendfsync)) {
            tellOn(server, "&waitForDisk=true");
        }
    }

    /** So that the stories are known to be right where there is no engine. */
    @Test
    void should_tell_the_same_on_the_redis_of_the_build() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            tellOn(server, "");
        }
    }

    private void tellOn(RedisServer server, String durability) throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration()
                    .setAddress(server.address());
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from(URI + "?maximumRedeliveries=1&redeliveryDelay=50ms&redeliveryJitter=0")
                            .process(ContainersIT.this::work);
                }
            });
            context.start();

            // scheduled and delivered
            send(context, "?delay=100ms" + durability, "plain");
            assertThat(next().getBody()).isEqualTo("plain");
            // cancelled
            send(context, "?delay=1h", "cancelled");
            assertThat(send(context, "?operation=cancel", "cancelled").getHeader(RedisDelayConstants.PREVIOUS_STATE))
                    .isEqualTo("delayed");
            // redelivered
            send(context, "", "fails once");
            assertThat(next().getHeader(RedisDelayConstants.ATTEMPT)).isEqualTo(2);
            // dead, and redriven
            send(context, "", "fails");
            await().untilAsserted(() -> assertThat(figures(context)).containsEntry("dead", 1L));
            partnerIsAway = false;
            assertThat(send(context, "?operation=redrive&all=true", null).getHeader(RedisDelayConstants.COUNT))
                    .isEqualTo(1L);
            assertThat(next().getBody()).isEqualTo("fails");
            await().untilAsserted(() -> assertThat(figures(context))
                    .containsEntry("delayed", 0L)
                    .containsEntry("leased", 0L)
                    .containsEntry("dead", 0L));
        }
    }

    private void work(Exchange exchange) throws Exception {
        Message message = exchange.getMessage();
        boolean first = message.getHeader(RedisDelayConstants.ATTEMPT, int.class) == 1;
        if (message.getBody().equals("fails") && partnerIsAway
                || message.getBody().equals("fails once") && first) {
            throw new ConnectException("partner is away");
        }
        received.add(message.copy());
    }

    private Message next() throws InterruptedException {
        Message message = received.poll(20, TimeUnit.SECONDS);
        assertThat(message).as("a message within 20 s").isNotNull();
        return message;
    }

    /** @param text the body and the id; null for neither */
    private static Message send(DefaultCamelContext context, String options, String text) {
        Exchange exchange = context.createProducerTemplate().request(URI + options, sent -> {
            sent.getMessage().setBody(text);
            sent.getMessage()
                    .setHeaders(new HashMap<>(text == null ? Map.of() : Map.of("CamelRedisDelayScheduleId", text)));
        });
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> figures(DefaultCamelContext context) {
        return send(context, "?operation=stats", null).getBody(Map.class);
    }
}
