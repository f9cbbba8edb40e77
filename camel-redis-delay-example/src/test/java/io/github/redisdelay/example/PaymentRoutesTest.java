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
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** The moment that counts: a payment that arrives while its order is being closed. */
class PaymentRoutesTest {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    @TempDir
    Path folder;

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<Notification> news = new CopyOnWriteArrayList<>();
    private final List<String> refunds = new CopyOnWriteArrayList<>();
    private OrderBook book;
    private CamelContext camel;

    @BeforeEach
    void start() throws Exception {
        book = OrderBook.open(folder.resolve("book.txt"), Clock.systemUTC());
        camel = new DefaultCamelContext();
        camel.getRegistry().bind("redisson", RedissonClient.class, redis.client());
        camel.addRoutes(new PaymentRoutes(new PaymentDesk(book)));
        camel.addRoutes(new RouteBuilder() {
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
        });
        camel.start();
    }

    @AfterEach
    void stop() {
        goOn.countDown();
        camel.stop();
        book.close();
    }

    @Test
    void theClosingUnderWayIsToldAndNotDeliveredAgain() throws Exception {
        ProducerTemplate template = camel.createProducerTemplate();
        book.place(OrderBookTest.order("A"));
        template.sendBodyAndHeader("redis-delay:orders", "an order", RedisDelayConstants.SCHEDULE_ID, "A");
        assertThat(closing.await(10, TimeUnit.SECONDS)).isTrue();

        PaymentAnswer answer = template.requestBodyAndHeader("direct:payment", null, "id", "A", PaymentAnswer.class);

        assertThat(answer.result()).isEqualTo(Result.CLOSING_UNDER_WAY);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(book.state("A")).contains(OrderState.CLOSED);
        assertThat(refunds).containsExactly("A");
        goOn.countDown();
        await().until(() -> redis.client().getKeys().countExists("redis-delay:{orders}:messages") == 0);
        assertThat(template.requestBodyAndHeaders("direct:payment", null, Map.of("id", "A"), PaymentAnswer.class)
                        .result())
                .isEqualTo(Result.CLOSED);
    }

    @Test
    void anOrderThatACrashKeptFromTheBookIsFoundInRedis() {
        ProducerTemplate template = camel.createProducerTemplate();
        template.sendBodyAndHeaders(
                "redis-delay:orders",
                ShopClient.order("B", "1h", PartnerRoutes.GONE),
                Map.of(RedisDelayConstants.SCHEDULE_ID, "B", RedisDelayConstants.DELAY, "1h"));

        PaymentAnswer answer = template.requestBodyAndHeader("direct:payment", null, "id", "B", PaymentAnswer.class);

        assertThat(answer.result()).isEqualTo(Result.PAID);
        assertThat(book.state("B")).contains(OrderState.PAID);
        assertThat(news).containsExactly(new Notification("B", "paid", PartnerRoutes.GONE));
    }
}
