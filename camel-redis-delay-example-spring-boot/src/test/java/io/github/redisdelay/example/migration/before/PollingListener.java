// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration.before;

import io.github.redisdelay.example.migration.Orders;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/**
 * The old consumer as it is made ready for the migration: its stop loses nothing, and it is not there where OrderImport
 * runs.
 */
@Component
@ConditionalOnProperty(name = "orders.import", havingValue = "none", matchIfMissing = true)
public class PollingListener implements InitializingBean, DisposableBean {

    private static final Logger LOG = LoggerFactory.getLogger(PollingListener.class);

    private final RBlockingQueue<String> queue;
    private final Orders orders;
    private final Thread thread = new Thread(this::pollAll, "orders");

    private volatile boolean stopped; // written once

    public PollingListener(RBlockingQueue<String> queue, Orders orders) {
        this.queue = queue;
        this.orders = orders;
    }

    @Override
    public void afterPropertiesSet() {
        thread.start();
    }

    private void pollAll() {
        while (!stopped) {
            try {
                String order = queue.poll(1, TimeUnit.SECONDS);
                if (order != null) {
                    orders.closeIfUnpaid(order);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.error("an order is lost", e);
            }
        }
    }

    @Override
    public void destroy() throws InterruptedException {
        stopped = true; // no interrupt()
        thread.join();
    }
}
