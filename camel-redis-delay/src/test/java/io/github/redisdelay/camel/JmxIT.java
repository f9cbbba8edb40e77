// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The attributes of a consumer in JMX. */
class JmxIT extends ConsumerSideIT {

    @Override
    protected DefaultCamelContext ownContext() {
        return newContextWithJmx();
    }

    private final Semaphore go = new Semaphore(0);

    @AfterEach
    void letGo() {
        go.release(1000);
    }

    /** Camel makes it when it starts. */
    private MBeanServer beans() {
        return context.getManagementStrategy().getManagementAgent().getMBeanServer();
    }

    private Set<ObjectName> names(String type) throws Exception {
        return beans().queryNames(
                        new ObjectName(
                                "org.apache.camel:context=" + context.getManagementName() + ",type=" + type + ",*"),
                        null);
    }

    private ObjectName name(String type) throws Exception {
        assertThat(names(type)).hasSize(1);
        return names(type).iterator().next();
    }

    private void receive(String options) throws Exception {
        start(consume(options, exchange -> go.tryAcquire(20, TimeUnit.SECONDS)));
    }

    private void assertUnderWay(int count) {
        await().untilAsserted(() -> assertThat(stats().leased()).isEqualTo(count));
    }

    @Test
    void should_work_on_more_or_fewer_at_a_time() throws Exception {
        for (int i = 0; i < 12; i++) {
            schedule("m" + i, "x");
        }
        receive("?concurrentConsumers=2");
        ObjectName consumer = name("consumers");
        assertThat(beans().getAttribute(consumer, "ConcurrentConsumers")).isEqualTo(2);
        assertUnderWay(2);

        beans().setAttribute(consumer, new Attribute("ConcurrentConsumers", 5));
        assertThat(beans().getAttribute(consumer, "ConcurrentConsumers")).isEqualTo(5);
        assertUnderWay(5);

        beans().setAttribute(consumer, new Attribute("ConcurrentConsumers", 1));
        go.release(4);
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isEqualTo(8));
        assertUnderWay(1);
        go.release(1);
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isEqualTo(7));
        assertUnderWay(1);

        assertThatThrownBy(() -> beans().setAttribute(consumer, new Attribute("ConcurrentConsumers", 0)))
                .hasStackTraceContaining("concurrentConsumers is 0: it must be 1 or more");
        assertThat(beans().getAttribute(consumer, "ConcurrentConsumers")).isEqualTo(1);
    }

    @Test
    void should_keep_the_number_when_the_route_is_suspended() throws Exception {
        receive("");
        beans().setAttribute(name("consumers"), new Attribute("ConcurrentConsumers", 3));
        context.getRouteController().suspendRoute("consumer");
        context.getRouteController().resumeRoute("consumer");
        for (int i = 0; i < 4; i++) {
            schedule("m" + i, "x");
        }
        assertUnderWay(3);
    }

    @Test
    void should_work_on_more_or_fewer_batches_at_a_time() throws Exception {
        for (int i = 0; i < 12; i++) {
            schedule("m" + i, "x");
        }
        receive("?batching=true&batchSize=2&batchTimeout=10s");
        ObjectName consumer = name("consumers");
        await().untilAsserted(
                        () -> assertThat(context.getInflightRepository().size()).isEqualTo(1));
        beans().setAttribute(consumer, new Attribute("ConcurrentConsumers", 3));
        await().untilAsserted(
                        () -> assertThat(context.getInflightRepository().size()).isEqualTo(3));
        beans().setAttribute(consumer, new Attribute("ConcurrentConsumers", 1));
        go.release(2);
        await().untilAsserted(
                        () -> assertThat(stats().delayed() + stats().leased()).isEqualTo(8));
        await().untilAsserted(
                        () -> assertThat(context.getInflightRepository().size()).isEqualTo(1));
    }
}
