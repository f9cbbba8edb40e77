// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class UrgentFirstIT extends RecipeIT {

    /** Plays the gateway. */
    public static class SmsGateway {
        final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

        public void send(String text) {
            sent.add(text);
        }
    }

    private final SmsGateway gateway = new SmsGateway();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new UrgentFirst();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("smsGateway", gateway);
    }

    @Test
    void should_send_what_is_urgent_before_what_is_due_longer() throws Exception {
        template.sendBody("redis-delay:sms?operation=pause", null);
        template.sendBody("direct:newsletter", "news 1");
        template.sendBody("direct:newsletter", "news 2");
        makeDue("sms");
        template.sendBody("direct:loginCode", "code");
        template.sendBody("redis-delay:sms?operation=resume", null);
        await().untilAsserted(() -> assertThat(gateway.sent).containsExactly("code", "news 1", "news 2"));
    }
}
