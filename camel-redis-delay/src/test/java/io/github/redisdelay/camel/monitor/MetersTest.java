// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.testkit.LogLines;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.camel.CamelContext;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;

/** The component without the module for meters. */
class MetersTest {

    @Test
    void should_name_the_artifact_where_there_is_a_registry() throws Exception {
        try (CamelContext context = new DefaultCamelContext();
                LogLines log = new LogLines(Meters.class)) {
            assertThat(Meters.of(context, "redis-delay", () -> null)).isSameAs(Meters.NONE);
            assertThat(log.of(Level.INFO)).isEmpty();

            context.getRegistry().bind("anyName", new SimpleMeterRegistry());
            assertThat(Meters.of(context, "redis-delay", () -> null)).isSameAs(Meters.NONE);
            assertThat(log.of(Level.INFO))
                    .singleElement()
                    .asString()
                    .contains(
                            "component 'redis-delay' has no meters",
                            "add the artifact io.github.redisdelay:camel-redis-delay-micrometer");
        }
    }
}
