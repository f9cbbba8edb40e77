// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.TestPorts;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** The moment that counts: the bank says that it has paid, between two looks and in the middle of one. */
class RefundRoutesIT extends CamelTestSupport {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private final CountDownLatch looking = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger looks = new AtomicInteger();
    private ShopDatabase database;

    @Override
    protected void bindToRegistry(Registry registry) {
        database = ShopDatabase.open(folder);
        registry.bind("redisson", RedissonClient.class, redis.client());
        registry.bind("stories", database.dataSource());
    }

    /** @param answer called for each look, on a thread of the bank's */
    private void start(String steps, Runnable answer) throws Exception {
        int port = TestPorts.next();
        context.getPropertiesComponent().addOverrideProperty("http.port", String.valueOf(port));
        context.getPropertiesComponent().addOverrideProperty("consume", "true");
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("jetty:http://localhost:{{http.port}}/bank/refunds?matchOnUriPrefix=true&httpMethodRestrict=GET,PUT")
                        .choice()
                        .when(simple("${header.CamelHttpMethod} == 'GET'"))
                        .process(exchange -> {
                            looks.incrementAndGet();
                            answer.run();
                        })
                        .setBody(constant("{\"status\":\"PENDING\"}"))
                        .end();
            }
        });
        context.addRoutes(new RefundRoutes(new ShopTime(1).realSteps(steps)));
    }

    @AfterEach
    void stop() {
        goOn.countDown();
        context.stop();
        database.close();
    }

    @Test
    void saidBetweenTwoLooksTheNextOneIsCancelled() throws Exception {
        start("1h", () -> {});
        template.sendBody("direct:refund", "A-1");
        // The first look found nothing, the next is planned.
        await().until(() -> looks.get() == 1 && messages("delayed") == 1);

        bankSays("A-1");

        assertThat(log.lines("refund   A-1", "the next look is cancelled")).hasSize(1);
        assertThat(foundBy()).containsExactly("bank");
        assertThat(messages("messages")).isZero();
    }

    @Test
    void saidInTheMiddleOfALookItIsTheLast() throws Exception {
        start("1ms", () -> {
            looking.countDown();
            awaitGoOn();
        });
        template.sendBody("direct:refund", "A-1");
        assertThat(looking.await(10, TimeUnit.SECONDS)).isTrue();

        bankSays("A-1");
        goOn.countDown();

        assertThat(log.lines("refund   A-1", "in the middle of a look")).hasSize(1);
        // The look asks for another one, and yet its message does not come again.
        await().until(() -> context.getInflightRepository().size() == 0);
        assertThat(messages("messages")).isZero();
        assertThat(looks).hasValue(1);
        assertThat(foundBy()).containsExactly("bank");
    }

    @Test
    void saidTwiceItIsDoneOnce() throws Exception {
        start("1h", () -> {});
        template.sendBody("direct:refund", "A-1");
        await().until(() -> looks.get() == 1);

        bankSays("A-1");
        bankSays("A-1");

        assertThat(log.lines("refund   A-1", "is done")).hasSize(1);
    }

    private void bankSays(String id) {
        template.sendBodyAndHeader("direct:refund-notification", null, "id", id);
    }

    private void awaitGoOn() {
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long messages(String key) {
        String name = "redis-delay:{refunds}:" + key;
        return key.equals("messages")
                ? redis.client().getMap(name).size()
                : redis.client().getScoredSortedSet(name).size();
    }

    private List<String> foundBy() {
        return new ShopRows(folder).column("SELECT found_by FROM refund WHERE state = 'DONE'");
    }
}
