// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.before;

import io.github.redisdelay.example.migration.Orders;
import org.redisson.api.RBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.stereotype.Component;

/** The consumer of an application that has not been migrated. */
@Component
public class OrderListener implements InitializingBean, DisposableBean {

    private static final Logger LOG = LoggerFactory.getLogger(OrderListener.class);

    private final RBlockingQueue<String> queue;
    private final Orders orders;
    private final Thread thread = new Thread(this::takeAll, "orders");

    public OrderListener(RBlockingQueue<String> queue, Orders orders) {
        this.queue = queue;
        this.orders = orders;
    }

    @Override
    public void afterPropertiesSet() {
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

    @Override
    public void destroy() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
