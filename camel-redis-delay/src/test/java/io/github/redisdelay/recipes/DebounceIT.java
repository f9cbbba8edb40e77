// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class DebounceIT extends RecipeIT {

    /** Plays the search index. */
    public static class SearchIndex {
        final BlockingQueue<String> updated = new LinkedBlockingQueue<>();
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);

        public void update(String document) throws InterruptedException {
            begun.countDown();
            goOn.await(20, TimeUnit.SECONDS);
            updated.add(document);
        }
    }

    private final SearchIndex index = new SearchIndex();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new Debounce();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("searchIndex", index);
    }

    @Test
    void should_index_once_what_has_changed_three_times() throws Exception {
        index.goOn.countDown();
        template.sendBody("direct:documentChanged", "D-1");
        template.sendBody("direct:documentChanged", "D-2");
        template.sendBody("direct:documentChanged", "D-1");
        template.sendBody("direct:documentChanged", "D-1");
        assertThat(stats("index").delayed()).isEqualTo(2);
        makeDue("index");
        await().untilAsserted(() -> assertThat(index.updated).containsExactlyInAnyOrder("D-1", "D-2"));
        await().until(() -> isEmpty("index"));
    }

    @Test
    void should_index_again_what_has_changed_while_it_was_being_indexed() throws Exception {
        template.sendBody("direct:documentChanged", "D-1");
        makeDue("index");
        assertThat(index.begun.await(10, TimeUnit.SECONDS)).isTrue();
        template.sendBody("direct:documentChanged", "D-1");
        index.goOn.countDown();
        await().until(() -> index.updated.size() == 1);
        assertThat(stats("index").delayed()).isOne();
        makeDue("index");
        await().untilAsserted(() -> assertThat(index.updated).hasSize(2));
    }
}
