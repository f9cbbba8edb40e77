// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.JavaCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Virtual threads, which Camel is told to use when a JVM starts: so the routes run in one of their own. It has a single
 * carrier thread, where the JDK has any, and each exchange waits for all the others: if a lock were held while a route
 * runs, they would never meet.
 */
class VirtualThreadsIT {

    private static final int EXCHANGES = 40;

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Test
    void should_route_on_virtual_threads_where_the_JDK_has_them() throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dcamel.threads.virtual.enabled=true",
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                "-cp",
                JavaCommand.classPath(),
                VirtualThreadsIT.class.getName(),
                redis.address(),
                redis.uniqueQueue()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String expected = Runtime.version().feature() >= 21 ? "VirtualThread[#" : "Thread[Camel (camel-1) thread #";
            assertThat(said.lines().filter(line -> line.startsWith("routed on ")))
                    .hasSize(EXCHANGES)
                    .allSatisfy(line -> assertThat(line).startsWith("routed on " + expected));
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** The routes. Arguments: address of Redis, queue. */
    public static void main(String[] arguments) throws Exception {
        CyclicBarrier meeting = new CyclicBarrier(EXCHANGES + 1);
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            String uri = "redis-delay:" + arguments[1] + "?address=" + arguments[0];
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to(uri);
                    from(uri + "&concurrentConsumers=" + EXCHANGES).process(exchange -> {
                        System.out.println("routed on " + Thread.currentThread());
                        meeting.await(60, TimeUnit.SECONDS);
                    });
                }
            });
            context.start();
            for (int i = 0; i < EXCHANGES; i++) {
                context.createProducerTemplate().sendBody("direct:in", i);
            }
            meeting.await(60, TimeUnit.SECONDS);
        }
        System.exit(0);
    }
}
