// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.Consumer;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.Producer;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.support.DefaultComponent;
import org.apache.camel.support.DefaultEndpoint;
import org.apache.camel.support.DefaultProducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PartnerNotificationIT extends RecipeIT {

    private static final String URL = "https://partner.example/hook";

    /** Stands in for camel-http, which the component's build does without. */
    private static final class Http extends DefaultComponent {
        private final Processor partner;

        Http(Processor partner) {
            this.partner = partner;
        }

        @Override
        protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) {
            assertThat(parameters)
                    .containsOnlyKeys(
                            "httpMethod", "throwExceptionOnFailure", "httpClientConfigurer", "responseTimeout");
            parameters.clear();
            return new DefaultEndpoint(uri, this) {
                @Override
                public Producer createProducer() {
                    return new DefaultProducer(this) {
                        @Override
                        public void process(Exchange exchange) throws Exception {
                            partner.process(exchange);
                        }
                    };
                }

                @Override
                public Consumer createConsumer(Processor processor) {
                    throw new UnsupportedOperationException("no recipe is an HTTP server");
                }
            };
        }
    }

    /** Where notifications end that nobody took. */
    public static class Partners {
        final BlockingQueue<String> unreachable = new LinkedBlockingQueue<>();

        public void unreachable(String notification, String reason) {
            unreachable.add(notification + ": " + reason);
        }
    }

    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    private final Partners partners = new Partners();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new PartnerNotification();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("http", new Http(this::answer));
        registry.bind("partners", partners);
    }

    /** The partner's answer is a status, and after a blank a Retry-After. */
    private void answer(Exchange exchange) throws InterruptedException {
        String[] answer = answers.take().split(" ");
        assertThat(exchange.getMessage().getHeaders()).containsOnlyKeys("CamelHttpUri");
        asked.add(exchange.getMessage().getHeader("CamelHttpUri") + " "
                + exchange.getMessage().getBody(String.class));
        exchange.getMessage().setHeader("CamelHttpResponseCode", Integer.parseInt(answer[0]));
        if (answer.length > 1) {
            exchange.getMessage().setHeader("Retry-After", answer[1]);
        }
    }

    @BeforeEach
    void notifyPartner() throws Exception {
        template.sendBodyAndHeader("direct:notifyPartner", "order A-1 is paid", "partnerUrl", URL);
    }

    private void answerAndAssertNextTry(String answer, int from, int to) {
        int tries = asked.size();
        makeDue("notify"); // before the answer, after which the first one, due at once, would come again
        answers.add(answer);
        await().until(() -> asked.size() == tries + 1 && stats("notify").delayed() == 1);
        assertThat(minutesToWait("notify")).as("after " + answer).isBetween((long) from, (long) to);
    }

    @Test
    void should_notify_by_the_steps_until_the_partner_answers_200() {
        answerAndAssertNextTry("503", 1, 1);
        answerAndAssertNextTry("404", 3, 4);
        answerAndAssertNextTry("429 7200", 120, 120);
        answerAndAssertNextTry("429 Wed,21Oct2099", 26, 35);
        makeDue("notify");
        answers.add("200");
        await().until(() -> isEmpty("notify"));
        assertThat(asked).hasSize(5).containsOnly(URL + " order A-1 is paid");
    }

    @Test
    void should_hand_over_what_the_partner_never_took() {
        for (int i = 0; i < 9; i++) {
            answerAndAssertNextTry("503", 1, 18 * 60);
        }
        makeDue("notify");
        answers.add("503");
        await().untilAsserted(() ->
                assertThat(partners.unreachable).containsExactly("order A-1 is paid: the partner answered 503"));
        await().until(() -> isEmpty("notify"));
    }
}
