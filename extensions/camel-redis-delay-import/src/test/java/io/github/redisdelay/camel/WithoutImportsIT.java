// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Routes that import nothing, in a JVM of their own on a Redis of their own, which both know nothing of imports,
 * although the module is there.
 */
class WithoutImportsIT {

    private static final Pattern LOADED = Pattern.compile("(io\\.github\\.redisdelay\\.[\\w.$]+) source: ");

    @Test
    void should_load_nothing_of_the_module() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            Set<String> loaded = classesOfRoutes(server.address(), "");
            assertThat(loaded).contains("io.github.redisdelay.camel.RedisDelayConsumer");
            assertThat(loaded).noneMatch(name -> name.startsWith("io.github.redisdelay.imports."));
            assertThat(scriptsOf(server)).containsExactly(true, false, false);
        }
        // The same sees them where they are.
        try (RedisServer server = RedisServer.dedicated()) {
            assertThat(classesOfRoutes(server.address(), "&import.from=old&import.codec=kryo5"))
                    .anyMatch(name -> name.endsWith(".imports.ImportCodec"));
            assertThat(scriptsOf(server)).startsWith(true, true);
        }
    }

    private static Set<String> classesOfRoutes(String address, String options) throws Exception {
        Process process = new ProcessBuilder(JavaCommand.of(
                        List.of("-Xlog:class+load:stdout"),
                        JavaCommand.classPath(),
                        WithoutImportsIT.class,
                        address,
                        options))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return LOADED.matcher(said)
                    .results()
                    .map((MatchResult line) -> line.group(1))
                    .collect(Collectors.toSet());
        } finally {
            process.destroyForcibly();
        }
    }

    /** Which of claim.lua, look.lua and import.lua the server has. */
    private static List<Boolean> scriptsOf(RedisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        RedissonClient redisson = Redisson.create(config);
        try {
            RScript scripts = redisson.getScript();
            return scripts.scriptExists(LuaScript.CLAIM.sha(), ImportScripts.LOOK.sha(), ImportScripts.IMPORT.sha());
        } finally {
            redisson.shutdown();
        }
    }

    /** The routes. Arguments: address of Redis, more options of the consumer. */
    public static void main(String[] arguments) throws Exception {
        CountDownLatch received = new CountDownLatch(2);
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            String uri = "redis-delay:orders?address=" + arguments[0];
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("direct:in").to(uri);
                    from(uri + "&redeliveryDelay=1ms" + arguments[1]).process(exchange -> {
                        received.countDown();
                        if (received.getCount() > 0) {
                            throw new IllegalStateException("the first delivery fails");
                        }
                    });
                }
            });
            context.start();
            context.createProducerTemplate().sendBody("direct:in", "x");
            context.createProducerTemplate().sendBody(uri + "&operation=stats", null);
            if (!received.await(30, TimeUnit.SECONDS)) {
                System.exit(1);
            }
        }
        System.exit(0);
    }
}
