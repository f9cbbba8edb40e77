// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration;

import org.apache.camel.ProducerTemplate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

@Component
@ConditionalOnProperty("orders.import")
public class OrderImport implements ApplicationRunner {

    private static final Logger LOG = LoggerFactory.getLogger(OrderImport.class);

    private final ProducerTemplate producer;
    private final String options;

    public OrderImport(ProducerTemplate producer, @Value("${orders.import}") String options) {
        this.producer = producer;
        this.options = options;
    }

    @Override
    public void run(ApplicationArguments arguments) {
        String uri = "redis-delay:orders?operation=import&import.from=orders" + "&" + options;
        LOG.info("{}: {}", options, producer.requestBody(uri, (Object) null));
    }
}
