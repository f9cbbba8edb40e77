// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueueClient;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.test.RedisExtension;
import java.util.Map;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs a recipe as it stands in the docs, on a real Redis. The queues have the names of the recipe, and a key prefix that no
 * other test uses; the delays are the real ones, and {@link #makeDue} ends them.
 */
abstract class RecipeTest {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    DefaultCamelContext context;
    ProducerTemplate template;
    private DelayQueueClient outside;

    @BeforeEach
    final void openContext() {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        context = new DefaultCamelContext();
        context.getShutdownStrategy().setTimeout(10);
        context.addComponent("redis-delay", component);
        template = context.createProducerTemplate();
        outside = DelayQueueClient.create(
                redis.client(), new ClientOptions(redis.keyPrefix(), ClientOptions.DEFAULTS.requestTimeout()));
    }

    @AfterEach
    final void closeContext() throws Exception {
        context.close();
        outside.close();
    }

    /** Starts a recipe with its beans. */
    void start(RouteBuilder recipe, Map<String, Object> beans) throws Exception {
        beans.forEach(context.getRegistry()::bind);
        context.addRoutes(recipe);
        context.start();
    }

    /** Makes everything due that waits in a queue. */
    void makeDue(String queue) {
        template.sendBody("redis-delay:" + queue + "?operation=promote", null);
    }

    /** What is in a queue. */
    QueueStats stats(String queue) {
        return outside.queue(queue).stats().join();
    }

    /** Whether nothing is left of what was scheduled. */
    boolean isEmpty(String queue) {
        QueueStats stats = stats(queue);
        return stats.delayed() == 0 && stats.leased() == 0 && stats.dead() == 0;
    }

    /** For how long the next message of a queue waits, in minutes, rounded up. */
    long minutesToWait(String queue) {
        return (stats(queue).nextDueMicros() + 59_999_999) / 60_000_000;
    }
}
