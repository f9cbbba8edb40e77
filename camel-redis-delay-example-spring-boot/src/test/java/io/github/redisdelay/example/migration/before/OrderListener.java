// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.before;

import io.github.redisdelay.example.migration.Orders;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.redisson.api.RBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** The consumer of an application that has not been migrated. */
@Component
public class OrderListener {

    private static final Logger LOG = LoggerFactory.getLogger(OrderListener.class);

    private final RBlockingQueue<String> queue;
    private final Orders orders;
    private final Thread thread = new Thread(this::takeAll, "orders");

    public OrderListener(RBlockingQueue<String> queue, Orders orders) {
        this.queue = queue;
        this.orders = orders;
    }

    @PostConstruct
    public void start() {
        thread.start();
    }

    private void takeAll() {
        while (true) {
            try {
                orders.closeIfUnpaid(queue.take());
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.error("an order is lost", e);
            }
        }
    }

    @PreDestroy
    public void stop() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
