// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
        assertAsksForTls((configuration, address) -> configuration.setAddress(address));
    }

    @Test
    void should_ask_so_soon_where_the_time_limits_of_a_file_are_short() throws Exception {
        long begun = System.nanoTime();
        assertAsksForTls((configuration, address) -> configuration.setConfigurationUri("file:"
                + Files.writeString(
                        folder.resolve("redisson.yaml"),
                        "singleServerConfig: {address: \"" + address
                                + "\", connectTimeout: 300, timeout: 300, retryAttempts: 0,"
                                + " connectionMinimumIdleSize: 1}")));
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
    }

    private interface Connection {
        void configure(RedisDelayConfiguration configuration, String address) throws IOException;
    }

    private static void assertAsksForTls(Connection connection) throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            String address = RedisServer.shared().address().replace("redis://", "rediss://");
            connection.configure(
                    context.getComponent("redis-delay", RedisDelayComponent.class)
                            .getConfiguration(),
                    address);
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
