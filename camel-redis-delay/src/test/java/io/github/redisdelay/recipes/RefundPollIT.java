// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class RefundPollIT extends RecipeIT {

    /** Plays the payment provider. */
    public static class Provider {
        final AtomicInteger looks = new AtomicInteger();
        volatile int doneAtLook;

        public String refundStatus(String refund) {
            return looks.incrementAndGet() < doneAtLook ? "PENDING" : "DONE";
        }
    }

    /** Plays the refund database. */
    public static class Refunds {
        final BlockingQueue<String> finished = new LinkedBlockingQueue<>();

        public void finish(String refund, String status) {
            finished.add(refund + " " + status);
        }
    }

    private final Provider provider = new Provider();
    private final Refunds refunds = new Refunds();

    private void lookAgain(int look) {
        await().until(() -> provider.looks.get() == look - 1 && stats("refunds").delayed() == 1);
        makeDue("refunds");
        await().until(() -> provider.looks.get() == look);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new RefundPoll();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("provider", provider);
        registry.bind("refunds", refunds);
    }

    @Test
    void should_look_again_by_the_steps_until_the_refund_is_done() throws Exception {
        provider.doneAtLook = 4;
        template.sendBody("direct:refundRequested", "R-1");
        lookAgain(1);
        lookAgain(2);
        lookAgain(3);
        await().until(() -> stats("refunds").delayed() == 1);
        assertThat(minutesToWait("refunds")).as("2m, and a part of it").isBetween(2L, 3L);
        assertThat(refunds.finished).isEmpty();
        lookAgain(4);
        await().untilAsserted(() -> assertThat(refunds.finished).containsExactly("R-1 DONE"));
        await().until(() -> isEmpty("refunds"));
    }

    @Test
    void should_look_no_more_when_the_provider_has_told_it() throws Exception {
        provider.doneAtLook = 100;
        template.sendBody("direct:refundRequested", "R-1");
        lookAgain(1);
        template.sendBodyAndHeader("direct:refundNotification", "DONE", "refund", "R-1");
        assertThat(refunds.finished).containsExactly("R-1 DONE");
        await().until(() -> isEmpty("refunds"));
    }
}
