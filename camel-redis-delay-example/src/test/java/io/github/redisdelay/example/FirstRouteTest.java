// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.math.BigDecimal;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.PluginHelper;
import org.apache.camel.support.ResourceHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

/** The README's first route runs as it stands there, in each of its three languages. */
class FirstRouteTest {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    private static final Order ORDER =
            new Order("A-1", "Ada", new BigDecimal("12.50"), "30m", "EUR", null, null, null, null);

    private final BlockingQueue<Order> closed = new LinkedBlockingQueue<>();
    private CamelContext camel;

    /** A bean such as the README's. */
    public static final class CloseIfUnpaid {
        private final BlockingQueue<Order> closed;

        CloseIfUnpaid(BlockingQueue<Order> closed) {
            this.closed = closed;
        }

        public void close(Order order) {
            closed.add(order);
        }
    }

    /** Where the route comes from. */
    interface Source {
        RoutesBuilder routes(CamelContext camel) throws Exception;
    }

    static Stream<Source> languages() {
        return Stream.of(camel -> new FirstRoute(), file("readme/first-route.yaml"), file("readme/first-route.xml"));
    }

    private static Source file(String name) {
        return camel -> PluginHelper.getRoutesLoader(camel)
                .findRoutesBuilders(ResourceHelper.resolveMandatoryResource(camel, "classpath:" + name))
                .iterator()
                .next();
    }

    @BeforeEach
    void prepare() {
        camel = new DefaultCamelContext();
        camel.getRegistry().bind("redisson", RedissonClient.class, redis.client());
        camel.getRegistry().bind("closeIfUnpaid", new CloseIfUnpaid(closed));
    }

    @AfterEach
    void stop() {
        camel.stop();
    }

    @ParameterizedTest
    @MethodSource("languages")
    void theOrderComesBackWhenItIsDue(Source source) throws Exception {
        camel.addRoutes(source.routes(camel));
        camel.start();

        // The header wins over the half hour of the route.
        camel.createProducerTemplate()
                .sendBodyAndHeaders("direct:orderPlaced", ORDER, Map.of(RedisDelayConstants.DELAY, "300ms"));

        assertThat(closed).isEmpty();
        assertThat(closed.poll(10, TimeUnit.SECONDS)).isEqualTo(ORDER);
    }

    @ParameterizedTest
    @MethodSource("languages")
    void theDelayOfTheRouteIsHalfAnHour(Source source) throws Exception {
        camel.addRoutes(source.routes(camel));
        camel.start();

        long before = System.currentTimeMillis();
        Long due = camel.createFluentProducerTemplate()
                .to("direct:orderPlaced")
                .withBody(ORDER)
                .request(org.apache.camel.Exchange.class)
                .getMessage()
                .getHeader(RedisDelayConstants.DUE_TIME, Long.class);

        assertThat(due - before).isBetween(30 * 60_000L, 30 * 60_000L + 10_000);
        assertThat(closed).isEmpty();
    }

    @Test
    void anUnknownOptionInYamlIsAnError() throws Exception {
        String yaml = """
                - route:
                    from:
                      uri: direct:orderPlaced
                      steps:
                        - to:
                            uri: redis-delay:orders
                            parameters:
                              delai: 30m
                """;
        RoutesBuilder routes = PluginHelper.getRoutesLoader(camel)
                .findRoutesBuilders(ResourceHelper.fromString("typo.yaml", yaml))
                .iterator()
                .next();

        assertThatThrownBy(() -> {
                    camel.addRoutes(routes);
                    camel.start();
                })
                .hasStackTraceContaining("delai")
                .hasStackTraceContaining("Unknown parameters");
    }
}
