// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.example.PaymentAnswer.Result;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** The moment that counts: a payment that arrives while its order is being closed. */
class PaymentRoutesIT extends CamelTestSupport {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    @TempDir
    Path folder;

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<Notification> news = new CopyOnWriteArrayList<>();
    private final List<String> refunds = new CopyOnWriteArrayList<>();
    private ShopDatabase database;
    private OrderBook book;

    @Override
    protected void bindToRegistry(Registry registry) {
        registry.bind("redisson", RedissonClient.class, redis.client());
    }

    @Override
    protected RoutesBuilder[] createRouteBuilders() {
        database = ShopDatabase.open(folder);
        book = new OrderBook(database.dataSource(), Clock.systemUTC());
        return new RoutesBuilder[] {new PaymentRoutes(new PaymentDesk(book)), aroundIt()};
    }

    private RouteBuilder aroundIt() {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:orders?visibilityTimeout=2s").process(exchange -> {
                    closing.countDown();
                    goOn.await();
                    book.close("A");
                });
                from("direct:notify")
                        .process(exchange -> news.add(exchange.getMessage().getBody(Notification.class)));
                from("direct:refund")
                        .process(exchange -> refunds.add(exchange.getMessage().getBody(String.class)));
            }
        };
    }

    @AfterEach
    void stop() {
        goOn.countDown();
        context.stop();
        database.close();
    }

    @Test
    void theClosingUnderWayIsToldAndNotDeliveredAgain() throws Exception {
        book.place(OrderBookTest.order("A"));
        template.sendBodyAndHeader("redis-delay:orders", "an order", RedisDelayConstants.SCHEDULE_ID, "A");
        assertThat(closing.await(10, TimeUnit.SECONDS)).isTrue();

        PaymentAnswer answer = template.requestBodyAndHeader("direct:payment", null, "id", "A", PaymentAnswer.class);

        assertThat(answer.result()).isEqualTo(Result.CLOSING_UNDER_WAY);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(book.state("A")).contains(OrderBook.State.CLOSED);
        assertThat(refunds).containsExactly("A");
        goOn.countDown();
        await().until(() -> redis.client().getKeys().countExists("redis-delay:{orders}:messages") == 0);
        assertThat(template.requestBodyAndHeaders("direct:payment", null, Map.of("id", "A"), PaymentAnswer.class)
                        .result())
                .isEqualTo(Result.CLOSED);
    }

    @Test
    void anOrderThatACrashKeptFromTheBookIsFoundInRedis() {
        template.sendBodyAndHeaders(
                "redis-delay:orders",
                ShopClient.order("B", "1h", ShopClient.NOBODY),
                Map.of(RedisDelayConstants.SCHEDULE_ID, "B", RedisDelayConstants.DELAY, "1h"));

        PaymentAnswer answer = template.requestBodyAndHeader("direct:payment", null, "id", "B", PaymentAnswer.class);

        assertThat(answer.result()).isEqualTo(Result.PAID);
        assertThat(book.state("B")).contains(OrderBook.State.PAID);
        assertThat(news).containsExactly(new Notification("B", "paid", ShopClient.NOBODY));
    }
}
