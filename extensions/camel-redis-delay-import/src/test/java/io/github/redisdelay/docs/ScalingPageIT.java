// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.JavaCommand;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Plays the scaler of docs/scaling.md: its queries on a producer's meters, JVMs with consumers by its rule. */
class ScalingPageIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    /** The time of the gauge, but for a moment. */
    private static final Duration WITHIN = Duration.ofSeconds(59);

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final DefaultCamelContext producer = new DefaultCamelContext();
    private final Deque<Process> consumers = new ArrayDeque<>();
    private Map<String, Object> spec;
    private DelayQueueClient client;
    private DelayQueue orders;

    /** The program of the Deployment. Ends when its input does. */
    static final class Consumer {

        public static void main(String[] arguments) throws Exception {
            try (DefaultCamelContext context = new DefaultCamelContext()) {
                context.addRoutes(new RouteBuilder() {
                    @Override
                    public void configure() {
                        from("redis-delay:orders?concurrentConsumers=10&address=" + arguments[0] + "&keyPrefix="
                                        + arguments[1])
                                .process(exchange -> {});
                    }
                });
                context.start();
                while (System.in.read() >= 0) {}
            }
        }
    }

    @BeforeEach
    void start() throws Exception {
        String file = Block.of("scaling", Files.readAllLines(Block.ROOT.resolve("docs/scaling.md"))).stream()
                .filter(block -> block.language().equals("yaml"))
                .map(Block::code)
                .findFirst()
                .orElseThrow();
        Map<String, Object> object = map(new Load(LoadSettings.builder().build()).loadFromString(file));
        assertThat(object)
                .contains(entry("apiVersion", "keda.sh/v1alpha1"), entry("kind", "ScaledObject"))
                .containsOnlyKeys("apiVersion", "kind", "metadata", "spec");
        spec = map(object.get("spec"));
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()));
        orders = client.queue("orders");
        producer.getRegistry().bind("redisson", redis.client());
        producer.getRegistry().bind("metricsRegistry", registry);
        producer.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:placed").to("redis-delay:orders?keyPrefix=" + redis.keyPrefix());
            }
        });
        producer.start();
    }

    @AfterEach
    void stop() throws Exception {
        consumers.forEach(Process::destroyForcibly);
        producer.close();
        client.close();
    }

    private int number(String field) {
        return ((Number) spec.get(field)).intValue();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object yaml) {
        return (Map<String, Object>) yaml;
    }

    private List<Map<String, Object>> triggers() {
        return ((List<?>) spec.get("triggers")).stream().map(ScalingPageIT::map).toList();
    }

    /** As KEDA computes it: NaN if it has no single figure, with which it takes the fallback. */
    private double replicas() {
        Scrape scrape = Scrape.of(registry.scrape());
        boolean active = false;
        double most = 0;
        for (Map<String, Object> trigger : triggers()) {
            Map<String, Object> metadata = map(trigger.get("metadata"));
            String query = ((String) metadata.get("query")).replace("\"shop\"", '"' + redis.keyPrefix() + '"');
            var values = PromQl.evaluate(query, scrape, scrape, 1).values();
            if (values.size() != 1) {
                return Double.NaN;
            }
            double value = values.iterator().next();
            active |= value > Double.parseDouble((String) metadata.get("activationThreshold"));
            most = Math.max(most, Math.ceil(value / Double.parseDouble((String) metadata.get("threshold"))));
        }
        return active ? Math.max(1, Math.min(most, number("maxReplicaCount"))) : most + number("minReplicaCount");
    }

    /** Scales, once the figures say so. */
    private void scaleTo(int expected) throws Exception {
        await().atMost(Duration.ofSeconds(30)).until(() -> replicas() == expected);
        while (consumers.size() < expected) {
            consumers.push(new ProcessBuilder(JavaCommand.of(Consumer.class, redis.address(), redis.keyPrefix()))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start());
        }
        while (consumers.size() > expected) {
            Process gone = consumers.pop();
            gone.getOutputStream().close();
            assertThat(gone.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private QueueStats stats() {
        return orders.admin().stats().join();
    }

    private void schedule(int messages) {
        List<Submission<?>> sent = IntStream.range(0, messages)
                .<Submission<?>>mapToObj(i -> orders.schedule(
                        ScheduleRequest.of(null, Envelope.of("x").encode(), DueTime.after(WITHIN))))
                .toList();
        sent.forEach(each -> each.result().join());
    }

    private void assertReadyInTime(int jvms) {
        await().atMost(WITHIN).until(() -> stats().consumers() == jvms);
        assertThat(stats().overdue()).isZero();
    }

    @Test
    void should_start_consumers_before_messages_are_due_and_stop_them_when_all_is_done() throws Exception {
        int threshold =
                Integer.parseInt((String) map(triggers().get(0).get("metadata")).get("threshold"));
        scaleTo(0);
        orders.schedule(ScheduleRequest.of("later", Envelope.of("x").encode(), DueTime.after(Duration.ofHours(1))))
                .result()
                .join();
        scaleTo(0);
        schedule(1);
        scaleTo(1);
        assertReadyInTime(1);
        schedule(threshold);
        scaleTo(2);
        assertReadyInTime(2);
        orders.admin().promoteAll(message -> true, Long.MAX_VALUE).join();
        await().atMost(WITHIN).until(() -> stats().delayed() + stats().leased() == 0);
        scaleTo(0);
        await().until(() -> stats().consumers() == 0);
    }

    @Test
    void should_have_fields_that_there_are() {
        assertThat(spec)
                .containsOnlyKeys(
                        "scaleTargetRef",
                        "minReplicaCount",
                        "maxReplicaCount",
                        "pollingInterval",
                        "cooldownPeriod",
                        "fallback",
                        "triggers");
        assertThat(map(spec.get("fallback"))).containsOnlyKeys("failureThreshold", "replicas");
        assertThat(triggers()).hasSize(2).allSatisfy(trigger -> {
            assertThat(trigger).containsEntry("type", "prometheus").containsOnlyKeys("type", "metadata");
            Map<String, Object> metadata = map(trigger.get("metadata"));
            assertThat(metadata)
                    .containsOnlyKeys("serverAddress", "query", "threshold", "activationThreshold", "ignoreNullValues");
            assertThat(metadata.values()).as("KEDA takes texts only").allMatch(String.class::isInstance);
        });
    }
}
