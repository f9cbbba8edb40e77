// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.before;

import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The queue of an application that has not been migrated. */
@Configuration
public class DelayedQueueConfiguration {

    @Bean
    public RBlockingQueue<String> queue(RedissonClient redisson) {
        return redisson.getBlockingQueue("orders");
    }

    @Bean(destroyMethod = "destroy")
    public RDelayedQueue<String> delayedQueue(RedissonClient redisson, RBlockingQueue<String> queue) {
        return redisson.getDelayedQueue(queue);
    }
}
