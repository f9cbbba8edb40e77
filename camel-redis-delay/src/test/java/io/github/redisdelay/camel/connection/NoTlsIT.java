// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss://} to a port where no TLS is spoken. */
class NoTlsIT {

    @TempDir
    private Path folder;

    @Test
    void should_ask_whether_TLS_is_spoken_where_a_plain_Redis_answers() throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            String address = RedisServer.shared().address().replace("redis://", "rediss://");
            // With Redisson's own time limits it takes a minute.
            Path yaml = Files.writeString(
                    folder.resolve("redisson.yaml"),
                    "singleServerConfig: {address: \"" + address
                            + "\", connectTimeout: 300, timeout: 300, retryAttempts: 0, connectionMinimumIdleSize: 1}");
            context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration()
                    .setConfigurationUri("file:" + yaml);
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").log("received");
                }
            });
            assertThatThrownBy(context::start)
                    .hasStackTraceContaining("Redis at " + address + " cannot be used: ")
                    .hasStackTraceContaining("does the server speak TLS at this port?");
        }
    }
}
