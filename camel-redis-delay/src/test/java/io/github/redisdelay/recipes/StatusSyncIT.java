// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class StatusSyncIT extends RecipeIT {

    /** Plays the carriers. */
    public static class Carriers {
        final AtomicInteger asked = new AtomicInteger();
        volatile boolean delivered;

        public boolean isDelivered(String trackingNumber) {
            asked.incrementAndGet();
            return delivered;
        }
    }

    private final Carriers carriers = new Carriers();

    private void askNow() {
        int asked = carriers.asked.get();
        makeDue("shipments");
        await().until(() ->
                carriers.asked.get() == asked + 1 && stats("shipments").leased() == 0);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new StatusSync();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("carriers", carriers);
    }

    @Test
    void should_ask_by_the_steps_of_the_message() {
        template.sendBodyAndHeader("direct:shipped", "X-1", "service", "express");
        assertThat(minutesToWait("shipments")).isEqualTo(10);
        askNow();
        assertThat(minutesToWait("shipments")).isBetween(9L, 12L);
        askNow();
        assertThat(minutesToWait("shipments")).isBetween(26L, 35L);
        carriers.delivered = true;
        askNow();
        assertThat(isEmpty("shipments")).isTrue();
    }

    @Test
    void should_ask_for_other_messages_by_their_own_steps() {
        template.sendBodyAndHeader("direct:shipped", "P-1", "service", "economy");
        askNow();
        assertThat(minutesToWait("shipments")).isBetween(5 * 60L, 7 * 60L);
    }

    @Test
    void should_give_up_after_the_last_step() {
        template.sendBodyAndHeader("direct:shipped", "P-1", "service", "economy");
        for (int i = 0; i < 7; i++) {
            askNow();
        }
        assertThat(stats("shipments").dead()).isOne();
    }
}
