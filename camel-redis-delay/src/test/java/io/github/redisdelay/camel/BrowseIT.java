// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.management.ObjectName;
import org.apache.camel.Exchange;
import org.apache.camel.api.management.mbean.ManagedBrowsableEndpointMBean;
import org.apache.camel.console.DevConsole;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.impl.console.BrowseDevConsole;
import org.apache.camel.spi.BrowsableEndpoint;
import org.apache.camel.spi.ManagementAgent;
import org.apache.camel.support.DefaultHeaderFilterStrategy;
import org.apache.camel.util.json.JsonObject;
import org.junit.jupiter.api.Test;

/** Looks at a queue by Camel's tools: the browse console, JMX, and the interface that both use. */
class BrowseIT extends ConsumerSideIT {

    @Override
    protected DefaultCamelContext ownContext() {
        return newContextWithJmx();
    }

    private static final DueTime LATER = DueTime.after(Duration.ofHours(1));

    private BrowsableEndpoint endpoint(String options) {
        BrowsableEndpoint endpoint = context.getEndpoint(uri + options, BrowsableEndpoint.class);
        context.start(); // Camel shows an endpoint in JMX that is there before
        return endpoint;
    }

    private void scheduleLater(int count) {
        for (int i = 0; i < count; i++) {
            schedule("m%03d".formatted(i), "body " + i, Envelope.Settings.NONE, LATER);
        }
    }

    private List<MessageInfo> waiting() {
        return stored().admin()
                .list(MessageState.DELAYED, PageStart.first(), 256)
                .join()
                .messages();
    }

    private static List<String> ids(List<Exchange> exchanges) {
        return exchanges.stream()
                .map(exchange -> exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class))
                .toList();
    }

    @Test
    void should_look_at_no_more_than_the_limit_whoever_asks() throws Exception {
        scheduleLater(40);
        BrowsableEndpoint endpoint = endpoint("?browseLimit=35");
        assertThat(endpoint.getExchanges(Integer.MAX_VALUE, null)).hasSize(35);
        assertThat(endpoint.getExchanges(0, null)).hasSize(35);
        assertThat(ids(endpoint.getExchanges(3, null))).containsExactly("m000", "m001", "m002");
        assertThat(ids(endpoint.getExchanges())).doesNotHaveDuplicates().hasSize(35);
        assertThat(endpoint.getBrowseStatus(1).size()).isEqualTo(40);

        ManagementAgent agent = context.getManagementStrategy().getManagementAgent();
        ObjectName name = context.getManagementStrategy()
                .getManagementObjectNameStrategy()
                .getObjectNameForEndpoint(endpoint);
        ManagedBrowsableEndpointMBean bean = agent.newProxyClient(name, ManagedBrowsableEndpointMBean.class);
        assertThat(bean.getBrowseLimit()).isEqualTo(35);
        assertThat(bean.queueSize()).isEqualTo(35);
        assertThat(bean.browseMessageBody(34)).isEqualTo("body 34");
        assertThat(bean.browseMessageBody(35)).isNull();
        assertThat(bean.browseAllMessagesAsJSon(true)).contains("body 34").doesNotContain("body 35");
        assertThat(agent.getMBeanServer().getAttribute(name, "QueueName")).isEqualTo(queue);

        endpoint.setBrowseLimit(40);
        assertThat(endpoint.getExchanges()).hasSize(40);
    }

    @Test
    void should_look_at_no_more_than_a_filter_needs() {
        scheduleLater(40);
        BrowsableEndpoint endpoint = endpoint("?browseLimit=35");
        AtomicInteger asked = new AtomicInteger();
        Predicate<Exchange> any = exchange -> asked.incrementAndGet() > 0;
        assertThat(ids(endpoint.getExchanges(2, any))).containsExactly("m000", "m001");
        assertThat(asked).hasValue(2);
        asked.set(0);
        Predicate<Exchange> late =
                any.and(exchange -> "body 33".equals(exchange.getMessage().getBody()));
        assertThat(ids(endpoint.getExchanges(2, late))).containsExactly("m033");
        assertThat(asked).hasValue(35);
    }

    @Test
    void should_change_nothing() {
        scheduleLater(3);
        schedule("due", "x");
        List<MessageInfo> before = waiting();
        List<Exchange> seen = endpoint("").getExchanges();
        assertThat(ids(seen)).containsExactly("due", "m000", "m001", "m002");
        assertThat(waiting()).usingRecursiveComparison().isEqualTo(before);
        assertThat(stats().leased()).isZero();
    }

    @Test
    void should_restore_what_a_consumer_would() {
        Map<String, Object> headers = Map.of(
                "color", "red", "secret", "s", "CamelFileName", "../../etc/passwd", "cAMELRedisDelayState", "forged");
        stored().schedule(ScheduleRequest.of(
                        "a",
                        Envelope.of("x", null, headers, Envelope.Settings.NONE).encode(),
                        LATER))
                .result()
                .join();
        DefaultHeaderFilterStrategy filter = new DefaultHeaderFilterStrategy();
        filter.setInFilter(java.util.Set.of("secret"));
        context.getRegistry().bind("filter", filter);
        Exchange seen = endpoint("?headerFilterStrategy=#filter").getExchanges().get(0);
        assertThat(seen.getMessage().getBody()).isEqualTo("x");
        assertThat(seen.getMessage().getHeaders())
                .containsEntry("color", "red")
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "delayed")
                .containsEntry(RedisDelayConstants.QUEUE, queue)
                .containsKeys(
                        RedisDelayConstants.DUE_TIME, RedisDelayConstants.SCHEDULED_TIME, Exchange.MESSAGE_TIMESTAMP)
                // Its priority would be that of what a route sends next.
                .doesNotContainKeys("secret", "CamelFileName", RedisDelayConstants.PRIORITY);
    }

    @Test
    void should_show_what_cannot_be_read_as_bytes() {
        stored().schedule(ScheduleRequest.of("a", new byte[] {1, 2}, LATER))
                .result()
                .join();
        assertThat(endpoint("").getExchanges().get(0).getMessage().getBody()).isEqualTo(new byte[] {1, 2});
    }

    @Test
    void should_look_at_dead_letters_and_at_what_is_being_delivered() throws Exception {
        bury("a", "dead body");
        schedule("b", "in work");
        Exchange dead = endpoint("?state=dead").getExchanges().get(0);
        assertThat(dead.getMessage().getBody()).isEqualTo("dead body");
        assertThat(dead.getMessage().getHeaders())
                .containsEntry(RedisDelayConstants.MESSAGE_ID, "a")
                .containsEntry(RedisDelayConstants.MESSAGE_STATE, "dead")
                .containsEntry(RedisDelayConstants.DEAD_LETTER_REASON, "failed")
                .containsEntry(RedisDelayConstants.FAILURE_MESSAGE, "partner is down");
        assertThat(endpoint("?state=dead").getBrowseStatus(0).size()).isOne();
        assertThat(endpoint("?state=leased").getExchanges()).isEmpty();
        DeliveryHandler nothing = delivery -> {};
        try (var receiver = stored().receiver(ConsumerOptions.DEFAULTS, nothing)) {
            Delivery held = receiver.receive(Duration.ofSeconds(20));
            assertThat(held.id()).isEqualTo("b");
            assertThat(ids(endpoint("?state=leased").getExchanges())).containsExactly("b");
            assertThat(endpoint("?state=leased").getBrowseStatus(0).size()).isOne();
            assertThat(endpoint("").getExchanges()).isEmpty();
            held.settle(Settlement.ACKNOWLEDGE).result().join();
        }
    }

    @Test
    void should_look_at_messages_of_groups_in_all_partitions() {
        context.start();
        for (int i = 0; i < 6; i++) {
            Map<String, Object> headers = new HashMap<>(Map.of(RedisDelayConstants.SCHEDULE_ID, "m" + i));
            if (i > 0) {
                headers.put(RedisDelayConstants.GROUP, "g" + i);
            }
            send(uri + "?partitions=4&delay=1h", "body " + i, headers);
        }
        assertThat(ids(endpoint("?partitions=4").getExchanges()))
                .containsExactlyInAnyOrder("m0", "m1", "m2", "m3", "m4", "m5");
        for (String id : List.of("first", "second", "third")) {
            send(
                    uri + "?partitions=4",
                    id,
                    Map.of(RedisDelayConstants.SCHEDULE_ID, id, RedisDelayConstants.GROUP, "g"));
        }
        BrowsableEndpoint parked = endpoint("?partitions=4&state=parked");
        assertThat(ids(parked.getExchanges())).containsExactly("second", "third");
        assertThat(parked.getBrowseStatus(0).size()).isEqualTo(2);
    }

    @Test
    void should_be_seen_by_the_browse_console() {
        scheduleLater(5);
        endpoint("?browseLimit=3");
        BrowseDevConsole console = new BrowseDevConsole();
        console.setCamelContext(context);
        assertThat((String)
                        console.call(DevConsole.MediaType.TEXT, Map.of("freshSize", "true", "filter", "redis-delay*")))
                .contains("size: 3 ", "body 2")
                .doesNotContain("body 3");
        assertThat(json(console, Map.of("freshSize", "true", "limit", "2", "tail", "1")))
                .containsEntry("queueSize", 3)
                .containsKey("firstTimestamp")
                .extractingByKey("messages")
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                .hasSize(1);
        assertThat(json(console, Map.of("dump", "false"))).containsEntry("queueSize", 5);
    }

    private JsonObject json(BrowseDevConsole console, Map<String, Object> options) {
        JsonObject root = (JsonObject) console.call(DevConsole.MediaType.JSON, options);
        return (JsonObject) ((List<?>) root.get("browse")).get(0);
    }

    @Test
    void should_say_clearly_that_redis_does_not_answer() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            context.start();
            String to = "redis-delay:orders?requestTimeout=1s&address=" + server.address();
            BrowsableEndpoint endpoint = context.getEndpoint(to, BrowsableEndpoint.class);
            template.sendBody(to, "x");
            server.kill();
            long start = System.nanoTime();
            assertThatThrownBy(endpoint::getExchanges)
                    .hasMessageStartingWith("queue 'orders': its messages could not be read: Redis at "
                            + server.address() + " did not answer within PT1S");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            context.stop();
        }
    }

    @Test
    void should_refuse_a_limit_that_would_be_none() {
        assertThatThrownBy(() -> context.getEndpoint(uri + "?browseLimit=0"))
                .hasStackTraceContaining("option 'browseLimit' is 0: it must be 1 or more");
    }
}
