// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.apache.camel.Consume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Reports each morning how many orders are not paid yet: a recurring schedule, which runs in one JVM of all. */
@Component
public class DailyReport {

    private static final Logger LOG = LoggerFactory.getLogger(DailyReport.class);

    private final OrderBook book;

    DailyReport(OrderBook book) {
        this.book = book;
    }

    /** A report that is more than two hours late is left out: the next one comes tomorrow. */
    @Consume("redis-delay:daily-report?cron=0 6 * * *&timeZone=Europe/Berlin&timeToLive=2h")
    public void report() {
        LOG.info("orders that are not paid yet: {}", book.openOrders());
    }
}
