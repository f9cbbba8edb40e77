// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.Header;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.ValidationException;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TenantQueuesIT extends RecipeIT {

    /** Stands for the exports. */
    public static class Exports {
        final BlockingQueue<String> run = new LinkedBlockingQueue<>();

        public void run(String export, @Header("tenant") String tenant, @Header("CamelRedisDelayQueue") String queue) {
            run.add(export + " of " + tenant + " from " + queue);
        }
    }

    private final Exports exports = new Exports();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new TenantQueues();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("exports", exports);
    }

    private void export(String tenant, String what, String wait) {
        template.sendBodyAndHeaders("direct:export", what, Map.of("tenant", tenant, "wait", wait));
    }

    @Test
    void should_have_a_queue_for_each_tenant() {
        export("acme", "orders", "1h");
        export("globex", "invoices", "2h");
        export("initech", "of a tenant that nobody consumes", "3h");
        assertThat(minutesToWait("export.acme")).isEqualTo(60);
        assertThat(minutesToWait("export.globex")).isEqualTo(120);
        assertThat(minutesToWait("export.initech")).isEqualTo(180);
        makeDue("export.globex");
        await().until(() -> isEmpty("export.globex"));
        assertThat(exports.run).containsExactly("invoices of globex from export.globex");
        assertThat(stats("export.acme").delayed()).isOne();
    }

    /** Only the name of a queue is dynamic, so there is one endpoint for each, whatever the delays. */
    @Test
    void should_make_one_endpoint_for_each_tenant() {
        for (int minutes = 1; minutes <= 50; minutes++) {
            export("acme", "orders", minutes + "m");
        }
        assertThat(stats("export.acme").delayed()).isEqualTo(50);
        assertThat(context.getEndpoints().stream()
                        .filter(endpoint -> endpoint.getEndpointUri().contains("maximumQueueLength")))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "acme?operation=purge&all=true&deadLetterReason=",
                "acme?address=redis://evil.example&x=",
                "acme?keyPrefix=other&",
                "acme%3Foperation=pause",
                "{{secret}}",
                "ACME",
                ""
            })
    void should_refuse_a_name_that_is_none(String tenant) {
        export("acme", "orders", "1h");
        assertThatThrownBy(() -> export(tenant, "orders", "1h")).hasRootCauseInstanceOf(ValidationException.class);
        assertThat(stats("export.acme").delayed()).isOne();
        assertThat(stats("export.acme").paused()).isFalse();
    }
}
