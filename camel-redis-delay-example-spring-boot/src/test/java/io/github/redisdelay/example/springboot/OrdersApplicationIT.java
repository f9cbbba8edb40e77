// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.Message;
import org.apache.camel.ProducerTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import redis.embedded.RedisServer;

/** The component in Spring Boot: one RedissonClient bean, and nothing to configure. */
@SpringBootTest(properties = "camel.main.run-controller=false")
class OrdersApplicationIT {

    private static RedisServer redis;

    @Autowired
    private CamelContext camel;

    @Autowired
    private ProducerTemplate template;

    @Autowired
    private RedissonClient redisson;

    @Autowired
    private CloseIfUnpaid closing;

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry properties) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        redis = RedisServer.builder()
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("save \"\"")
                .build();
        redis.start();
        properties.add("spring.data.redis.host", () -> "127.0.0.1");
        properties.add("spring.data.redis.port", () -> port);
    }

    @AfterAll
    static void stopRedis() throws IOException {
        redis.stop();
    }

    @Test
    void theOnlyRedissonClientIsFound() {
        assertThat(camel.getComponent("redis-delay", RedisDelayComponent.class)
                        .getConfiguration()
                        .getRedisson())
                .isSameAs(redisson);
    }

    @Test
    void theOptionsOfTheBeanAreTheComponents() {
        template.sendBodyAndHeader(
                "direct:orderPlaced", new Order("A-0", "Ada", BigDecimal.ONE), RedisDelayConstants.DELAY, "1h");

        assertThat(redisson.getKeys().getKeys()).anyMatch(key -> key.startsWith("shop:{orders}:"));
        assertThat(redisson.getKeys().getKeys()).noneMatch(key -> key.startsWith("redis-delay:{"));
    }

    @Test
    void anOrderWaitsAndComesBackWhenItIsDue() {
        Order order = new Order("A-1", "Ada", new BigDecimal("12.50"));

        template.sendBodyAndHeaders(
                "direct:orderPlaced",
                order,
                Map.of(RedisDelayConstants.SCHEDULE_ID, "A-1", RedisDelayConstants.DELAY, "1h"));

        assertThat(ask("get").getHeader(RedisDelayConstants.MESSAGE_STATE)).isEqualTo("delayed");
        assertThat(closing.closed()).doesNotContain(order);
        ask("promote"); // due now
        await().until(() -> closing.closed().contains(order));
    }

    private Message ask(String operation) {
        return template.request("redis-delay:orders", asking -> {
                    asking.getMessage().setHeader(RedisDelayConstants.OPERATION, operation);
                    asking.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, "A-1");
                })
                .getMessage();
    }

    @Test
    void placeholdersOfSpringReachTheOptions() {
        long before = System.currentTimeMillis();

        Long due = camel.createFluentProducerTemplate()
                .to("direct:orderPlaced")
                .withBody(new Order("A-2", "Amir", BigDecimal.TEN))
                .request(org.apache.camel.Exchange.class)
                .getMessage()
                .getHeader(RedisDelayConstants.DUE_TIME, Long.class);

        assertThat(due - before).isBetween(30 * 60_000L, 30 * 60_000L + 10_000);
    }
}
