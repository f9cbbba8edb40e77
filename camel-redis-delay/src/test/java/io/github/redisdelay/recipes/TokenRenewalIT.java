// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class TokenRenewalIT extends RecipeIT {

    /** Plays the token server and the accounts. */
    public static class Accounts {
        final AtomicInteger renewals = new AtomicInteger();
        final CountDownLatch renewing = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        volatile boolean down; // whether the token server answers with an error
        volatile boolean slow;

        public void renewToken(String account) throws InterruptedException {
            renewals.incrementAndGet();
            if (down) {
                throw new IllegalStateException("503");
            }
            if (slow) {
                renewing.countDown();
                goOn.await(20, TimeUnit.SECONDS);
            }
        }
    }

    private final Accounts accounts = new Accounts();

    private void renewNow(int renewal) {
        await().until(() -> stats("tokens").delayed() == 1);
        makeDue("tokens");
        await().until(() -> accounts.renewals.get() == renewal);
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new TokenRenewal();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("accounts", accounts);
    }

    @Test
    void should_renew_again_and_again() throws Exception {
        template.sendBody("direct:accountLinked", "ada");
        for (int renewal = 1; renewal <= 3; renewal++) {
            assertThat(minutesToWait("tokens")).isEqualTo(50);
            renewNow(renewal);
            await().until(() -> stats("tokens").delayed() == 1);
        }
    }

    @Test
    void should_try_again_soon_when_a_renewal_failed() throws Exception {
        accounts.down = true;
        template.sendBody("direct:accountLinked", "ada");
        renewNow(1);
        await().until(() -> stats("tokens").delayed() == 1);
        assertThat(minutesToWait("tokens")).as("5s").isOne();
        accounts.down = false;
        renewNow(2);
        await().until(() -> stats("tokens").delayed() == 1);
        assertThat(minutesToWait("tokens")).isEqualTo(50);
    }

    @Test
    void should_stop_when_the_account_is_unlinked() throws Exception {
        template.sendBody("direct:accountLinked", "ada");
        template.sendBody("direct:accountUnlinked", "ada");
        assertThat(isEmpty("tokens")).isTrue();
    }

    @Test
    void should_stop_when_the_account_is_unlinked_during_a_renewal() throws Exception {
        accounts.slow = true;
        template.sendBody("direct:accountLinked", "ada");
        renewNow(1);
        assertThat(accounts.renewing.await(10, TimeUnit.SECONDS)).isTrue();
        template.sendBody("direct:accountUnlinked", "ada");
        assertThat(isEmpty("tokens")).isTrue();
        accounts.goOn.countDown();
        await().until(() -> context.getInflightRepository().size() == 0);
        assertThat(isEmpty("tokens"))
                .as("the round that was cancelled schedules no other")
                .isTrue();
        assertThat(accounts.renewals).hasValue(1);
    }
}
