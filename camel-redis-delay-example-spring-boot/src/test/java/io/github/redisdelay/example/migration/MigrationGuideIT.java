// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayConsumer;
import io.github.redisdelay.example.migration.before.DelayedQueueConfiguration;
import io.github.redisdelay.example.migration.before.OrderListener;
import io.github.redisdelay.example.migration.before.PollingListener;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.ResolveEndpointFailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;

/**
 * Follows docs/migration.md with applications on Spring Boot: its classes, its commands, and the lines of the log that
 * it shows.
 */
@ExtendWith(OutputCaptureExtension.class)
class MigrationGuideIT {

    private static final Pattern COMMAND = Pattern.compile("(?m)^redis-cli (.*?)(?: +# (.*))?$");
    private static final Pattern START = Pattern.compile("(?m)^java -jar orders.jar '?(--.*?)'?$");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```\\w*\n(.*?)^```");

    private static final int FOLLOWED = 7; // by consumers_first

    private static final Duration SLOW_MACHINE = Duration.ofSeconds(30);

    private final Orders orders = new Orders(); // all applications of a test close orders here
    private final List<ConfigurableApplicationContext> running = new ArrayList<>();
    private RedisServer redis;
    private List<String> blocks;

    @Configuration
    @EnableAutoConfiguration
    static class Application {}

    @BeforeEach
    void start() throws IOException {
        blocks = BLOCK.matcher(Files.readString(Path.of("../docs/migration.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        redis = RedisServer.dedicated();
    }

    @AfterEach
    void stop() {
        running.forEach(ConfigurableApplicationContext::close);
        redis.close();
    }

    /** Starts an application. @param parts its classes, and its arguments */
    private ConfigurableApplicationContext application(Object... parts) {
        SpringApplicationBuilder builder = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getBeanFactory().registerSingleton("orders", orders));
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--camel.component.redis-delay.key-prefix=redis-delay",
                "--logging.level.io.github.redisdelay=INFO"));
        for (Object part : parts) {
            if (part instanceof Class<?> source) {
                builder.sources(source);
            } else {
                arguments.add((String) part);
            }
        }
        ConfigurableApplicationContext started = builder.run(arguments.toArray(String[]::new));
        running.add(started);
        return started;
    }

    private static io.github.redisdelay.example.migration.before.OrderService before(
            ConfigurableApplicationContext application) {
        return application.getBean(io.github.redisdelay.example.migration.before.OrderService.class);
    }

    private ConfigurableApplicationContext oldApplication() {
        return oldApplication(OrderListener.class);
    }

    private ConfigurableApplicationContext oldApplication(Class<?> listener) {
        return application(
                DelayedQueueConfiguration.class,
                io.github.redisdelay.example.migration.before.OrderService.class,
                listener);
    }

    /** The block of the page that begins so. */
    private String block(String start) {
        return blocks.stream()
                .filter(block -> block.startsWith(start))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no block of the page begins with " + start));
    }

    /** Starts an application with the argument of a command of the page. */
    private void importAs(String start) {
        Matcher command = START.matcher(block("java -jar orders.jar " + start));
        assertThat(command.find()).isTrue();
        ConfigurableApplicationContext importing = application(
                OrderImport.class,
                PollingListener.class,
                io.github.redisdelay.example.migration.during.OrderRoutes.class,
                command.group(1));
        assertThat(importing.getBean(CamelContext.class).getRoutes())
                .as("consumers where an import runs")
                .isEmpty();
        assertThat(importing.getBeansOfType(PollingListener.class)).isEmpty();
        importing.close();
    }

    /** Runs the command of the page that begins so until it gets the answer that stands there. */
    private void cli(String start) {
        Matcher command = COMMAND.matcher(block("redis-cli " + start));
        assertThat(command.find()).isTrue();
        Object[] words = WORD.matcher(command.group(1))
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toArray();
        RScript script = running.stream()
                .filter(ConfigurableApplicationContext::isActive)
                .findFirst()
                .orElseThrow()
                .getBean(RedissonClient.class)
                .getScript(StringCodec.INSTANCE);
        await().atMost(SLOW_MACHINE).untilAsserted(() -> assertThat("(integer) "
                        + script.<Long>eval(
                                RScript.Mode.READ_WRITE,
                                "return redis.call(unpack(ARGV))",
                                RScript.ReturnType.INTEGER,
                                List.of(),
                                words))
                .as(command.group())
                .isEqualTo(command.group(2)));
    }

    /** The lines of the block that begins so have been logged. */
    private void shown(CapturedOutput output, String start) {
        assertThat(block(start).lines())
                .allSatisfy(line -> assertThat(output.getOut()).contains(line));
    }

    /** No command and no line of the log is on the page that the test of the plan does not know. */
    @Test
    void all_is_followed() {
        assertThat(blocks.stream().filter(block -> block.matches("(?s)(redis-cli|java -jar|queue ').*")))
                .as("blocks")
                .hasSize(FOLLOWED);
    }

    private void awaitClosed(String... expected) {
        await().atMost(SLOW_MACHINE)
                .untilAsserted(() -> assertThat(orders.closed()).containsExactlyInAnyOrder(expected));
    }

    private static Instant now() {
        return Instant.now();
    }

    @Test
    void consumers_first(CapturedOutput output) {
        ConfigurableApplicationContext old = oldApplication(PollingListener.class);
        before(old).placed("A-1");
        // Redisson has those of one millisecond in the order of random ids.
        before(old).placed("A-2", now().plusSeconds(1_801));
        before(old).placed("A-3", now().plusSeconds(1_802));

        // 1: a dry run
        cli("ZCARD");
        importAs("--orders.import=import.dryRun");
        shown(output, "queue 'orders': the dry run");

        // 2: consumers
        ConfigurableApplicationContext consumers = application(
                DelayedQueueConfiguration.class,
                io.github.redisdelay.example.migration.before.OrderService.class,
                io.github.redisdelay.example.migration.during.OrderRoutes.class);
        old.close();
        before(consumers).placed("B-1", now());
        awaitClosed("B-1");
        RedisDelayConsumer consumer = (RedisDelayConsumer)
                consumers.getBean(CamelContext.class).getRoute("close-unpaid").getConsumer();
        await().atMost(SLOW_MACHINE)
                .untilAsserted(() -> assertThat(consumer.getImported()).isOne());
        cli("HLEN");
        before(consumers).paid("A-3");

        // 3: producers
        ConfigurableApplicationContext producers = application(
                DelayedQueueConfiguration.class,
                io.github.redisdelay.example.migration.during.OrderService.class,
                io.github.redisdelay.example.migration.during.OrderRoutes.class);
        consumers.close();
        var service = producers.getBean(io.github.redisdelay.example.migration.during.OrderService.class);
        service.placed("C-1", now());
        awaitClosed("B-1", "C-1");
        service.placed("C-2");
        assertThat(service.paidInTime("C-2")).isTrue();
        assertThat(service.paidInTime("A-2")).isTrue(); // still there
        assertThat(service.paidInTime("A-2")).isFalse();

        // 4: import
        importAs("'--orders.import=import.codec");
        shown(output, "queue 'orders': the import");
        assertThat(producers.getBean(RDelayedQueue.class)).isEmpty();
        assertThat(stats(producers).toString()).contains("delayed=1");
        service.paid("A-1"); // imported under its id
        assertThat(stats(producers).toString()).contains("delayed=0");

        // 5 and 6
        cli("EXISTS");
        ConfigurableApplicationContext after = application(
                io.github.redisdelay.example.migration.after.OrderService.class,
                io.github.redisdelay.example.migration.after.OrderRoutes.class);
        producers.close();
        var last = after.getBean(io.github.redisdelay.example.migration.after.OrderService.class);
        last.placed("D-1", now().minusSeconds(60));
        awaitClosed("B-1", "C-1", "D-1");
        last.placed("D-2");
        last.paid("D-2");
        assertThat(stats(after).toString()).contains("delayed=0");
        cli("EXISTS");
    }

    private static Object stats(ConfigurableApplicationContext application) {
        return application.getBean(ProducerTemplate.class).requestBody("redis-delay:orders?operation=stats", (Object)
                null);
    }

    @Test
    void producers_first() {
        ConfigurableApplicationContext old = oldApplication();
        before(old).placed("A-1", now().plusSeconds(3));
        before(old).placed("A-2");
        ConfigurableApplicationContext producers = application(
                DelayedQueueConfiguration.class,
                io.github.redisdelay.example.migration.during.OrderService.class,
                WayBack.class);
        var service = producers.getBean(io.github.redisdelay.example.migration.during.OrderService.class);
        service.placed("B-1", now());
        awaitClosed("A-1", "B-1"); // both by the old consumer: there is no other

        service.placed("B-2");
        producers.close();
        old.close();
        ConfigurableApplicationContext both = application(
                DelayedQueueConfiguration.class,
                io.github.redisdelay.example.migration.during.OrderService.class,
                io.github.redisdelay.example.migration.during.OrderRoutes.class);
        both.getBean(ProducerTemplate.class)
                .sendBodyAndHeader("redis-delay:orders?operation=promote", null, "CamelRedisDelayScheduleId", "B-2");
        awaitClosed("A-1", "B-1", "B-2");
        importAs("'--orders.import=import.codec");
        cli("EXISTS");
    }

    @Test
    void all_at_once_and_back() {
        ConfigurableApplicationContext old = oldApplication();
        before(old).placed("A-1");
        ConfigurableApplicationContext both = application(
                io.github.redisdelay.example.migration.after.OrderService.class,
                io.github.redisdelay.example.migration.during.OrderRoutes.class);
        before(old).placed("A-2", now());
        awaitClosed("A-2"); // a thread that is interrupted while it takes loses what it takes
        old.close();
        both.getBean(io.github.redisdelay.example.migration.after.OrderService.class)
                .placed("B-1", now());
        awaitClosed("A-2", "B-1");
        importAs("'--orders.import=import.codec");
        cli("EXISTS");
        both.getBean(io.github.redisdelay.example.migration.after.OrderService.class)
                .placed("B-2");
        running.forEach(ConfigurableApplicationContext::close);

        // All waits here, and the old application runs again.
        ConfigurableApplicationContext back = oldApplication();
        ConfigurableApplicationContext wayBack = application(DelayedQueueConfiguration.class, WayBack.class);
        for (String order : List.of("A-1", "B-2")) {
            wayBack.getBean(ProducerTemplate.class)
                    .sendBodyAndHeader(
                            "redis-delay:orders?operation=promote", null, "CamelRedisDelayScheduleId", order);
        }
        awaitClosed("A-2", "B-1", "A-1", "B-2");
        before(back).placed("C-1", now());
        awaitClosed("A-2", "B-1", "A-1", "B-2", "C-1");
    }

    @Test
    void a_method_instead_of_a_route() {
        ConfigurableApplicationContext after = application(
                io.github.redisdelay.example.migration.after.OrderService.class,
                io.github.redisdelay.example.migration.after.OrderListener.class);
        after.getBean(io.github.redisdelay.example.migration.after.OrderService.class)
                .placed("A-1", now());
        awaitClosed("A-1");
    }

    /** It reaches the module for imports, which is on the class path. */
    @Test
    void an_option_of_imports_as_a_property() {
        ConfigurableApplicationContext application =
                application("--camel.component.redis-delay.import-options.codec=json");
        assertThat(application
                        .getBean(CamelContext.class)
                        .getEndpoint("redis-delay:orders?operation=import&import.from=old"))
                .isNotNull();
    }

    /** Sends as late as a thread does that stops at the one event or at the other. */
    static class LateSender implements DisposableBean {

        private final ProducerTemplate producer;
        private Throwable atContextClosed;
        private Throwable atDestroy;

        LateSender(ProducerTemplate producer) {
            this.producer = producer;
        }

        private Throwable send() {
            return catchThrowable(() -> producer.sendBody("redis-delay:orders?delay=1h", "late"));
        }

        @EventListener(ContextClosedEvent.class)
        public void closed() {
            atContextClosed = send();
        }

        @Override
        public void destroy() {
            atDestroy = send();
        }
    }

    @Test
    void a_thread_that_sends_is_stopped_before_camel() {
        ConfigurableApplicationContext application = application(LateSender.class);
        LateSender sender = application.getBean(LateSender.class);
        application.close();
        assertThat(sender.atContextClosed).isNull();
        assertThat(sender.atDestroy)
                .isInstanceOf(ResolveEndpointFailedException.class)
                .rootCause()
                .hasMessageContaining("is stopped");
    }
}
