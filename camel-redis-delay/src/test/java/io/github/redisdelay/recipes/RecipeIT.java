// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs a recipe as it stands in the docs, on a real Redis. The queues have the names of the recipe, and a key prefix that no
 * other test uses; the delays are the real ones, and {@link #makeDue} ends them.
 */
abstract class RecipeIT extends CamelTestSupport {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private DelayQueueClient outside;

    @Override
    protected abstract RoutesBuilder createRouteBuilder();

    /** Binds what the recipe names. */
    abstract void bindBeans(Registry registry);

    @Override
    protected void bindToRegistry(Registry registry) {
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setRedisson(redis.client());
        component.getConfiguration().setKeyPrefix(redis.keyPrefix());
        registry.bind("redis-delay", component);
        bindBeans(registry);
    }

    @BeforeEach
    final void openClient() {
        outside = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()));
    }

    @AfterEach
    final void closeClient() {
        outside.close();
    }

    /** Makes everything due that waits in a queue. */
    void makeDue(String queue) {
        template.sendBody("redis-delay:" + queue + "?operation=promote&all=true", null);
    }

    /** The figures of a queue. */
    QueueStats stats(String queue) {
        return outside.queue(queue).admin().stats().join();
    }

    /** Tells whether nothing is left of what was scheduled. */
    boolean isEmpty(String queue) {
        QueueStats stats = stats(queue);
        return stats.delayed() == 0 && stats.leased() == 0 && stats.dead() == 0;
    }

    /** For how long the next message of a queue waits, in minutes, rounded up. */
    long minutesToWait(String queue) {
        return (stats(queue).nextDueMicros() + 59_999_999) / 60_000_000;
    }
}
