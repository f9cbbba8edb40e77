// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.Header;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class RetryQueueIT extends RecipeIT {

    /** Plays the ledger, which cannot be reached at first. */
    public static class Ledger {
        final AtomicInteger tries = new AtomicInteger();
        final BlockingQueue<String> booked = new LinkedBlockingQueue<>();
        volatile int failures; // set before the routes are started

        public void book(String invoice, @Header("tenant") String tenant) throws IOException {
            if (invoice.isBlank()) {
                throw new IllegalArgumentException("an empty invoice");
            }
            if (tries.incrementAndGet() <= failures) {
                throw new IOException("connection refused");
            }
            booked.add(tenant + " " + invoice);
        }
    }

    private final Ledger ledger = new Ledger();

    private void retry(int which) {
        await().until(() -> ledger.tries.get() == which && stats("retry").delayed() == 1);
        makeDue("retry");
        await().until(() -> ledger.tries.get() == which + 1);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new RetryQueue();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("ledger", ledger);
    }

    @Test
    void should_try_later_with_the_message_as_it_came() throws Exception {
        ledger.failures = 3;
        template.sendBodyAndHeader("direct:invoices", "invoice 1", "tenant", "north");
        assertThat(minutesToWait("retry")).isEqualTo(10);
        retry(1);
        retry(2);
        retry(3);
        await().untilAsserted(() -> assertThat(ledger.booked).containsExactly("north invoice 1"));
        await().until(() -> isEmpty("retry"));
    }

    @Test
    void should_give_up_after_five_redeliveries_of_the_retry() throws Exception {
        ledger.failures = 100;
        template.sendBodyAndHeader("direct:invoices", "invoice 1", "tenant", "north");
        for (int which = 1; which <= 6; which++) {
            retry(which);
        }
        await().until(() -> stats("retry").dead() == 1);
        assertThat(ledger.tries).hasValue(7);
    }

    @Test
    void should_not_park_what_can_never_succeed() throws Exception {
        assertThatThrownBy(() -> template.sendBody("direct:invoices", " ")).hasRootCauseMessage("an empty invoice");
        assertThat(isEmpty("retry")).isTrue();
    }
}
