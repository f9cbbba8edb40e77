// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;

public class OrderShop extends RouteBuilder {

    @Override
    public void configure() {
        from("direct:placed")
                .setHeader("CamelRedisDelayScheduleId", body())
                .log("${body} placed")
                .to("redis-delay:orders?delay=5s&onDuplicate=ignore");
        from("direct:paid")
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:orders?operation=cancel")
                .log("${body} paid, its message was ${header.CamelRedisDelayPreviousState}");
        from("redis-delay:orders").log("${body} not paid within 5 s: closed");
    }

    public static void main(String[] arguments) throws Exception {
        Main main = new Main();
        main.configure().addRoutesBuilder(new OrderShop());
        main.addInitialProperty("camel.component.redis-delay.address", "redis://localhost:6379");
        main.start();
        ProducerTemplate shop = main.getCamelTemplate();
        shop.sendBody("direct:placed", "A-1");
        shop.sendBody("direct:placed", "A-2");
        shop.sendBody("direct:paid", "A-1");
        main.run(); // until Ctrl-C
    }
}
