// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.apache.camel.CamelContext;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A start without Redis, whose routes Camel starts later. */
class RouteControllerIT {

    /** As the page has it. */
    @Test
    void should_start_without_redis_under_camels_route_controller() {
        try (RedisServer server = RedisServer.dedicated()) {
            server.stop();
            List<String> arguments = List.of(
                    RedisFailureIT.WITHOUT_REDISSONS_STARTER,
                    "--spring.data.redis.port=" + server.port(),
                    "--camel.routecontroller.enabled=true",
                    "--camel.routecontroller.back-off-delay=500",
                    "--camel.main.run-controller=false");
            try (ConfigurableApplicationContext started =
                    SpringApplication.run(RedisFailureIT.Application.class, arguments.toArray(String[]::new))) {
                CamelContext camel = started.getBean(CamelContext.class);
                assertThat(camel.isStarted()).isTrue();
                server.start();
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(camel.getRoutes()).allMatch(route -> camel.getRouteController()
                                .getRouteStatus(route.getRouteId())
                                .isStarted()));
                camel.createProducerTemplate().sendBody("direct:orderPlaced", "A-1");
                await().atMost(Duration.ofSeconds(30)).until(() -> "A-1"
                        .equals(started.getBean(BlockingQueue.class).poll()));
            }
        }
    }
}
