// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.OldQueue;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.client.codec.StringCodec;

/** The meters of imports, by the operation and by a consumer. */
class ImportMetersIT extends CamelRedisIT {

    private static final String NAME = "camel.redis.delay.import.";
    private static final long FAR = 4_000_000_000_000L;

    private final MeterRegistry meters = new SimpleMeterRegistry();
    private OldQueue old;

    @BeforeEach
    void bind() {
        context.getRegistry().bind("myMeters", meters);
        old = new OldQueue(redis.client(), redis.uniqueQueue());
    }

    private String uri(String options) {
        return uri + "?import.from=" + old.name + "&import.codec=json" + options;
    }

    private double count(String name, String routeId) {
        return meters.get(NAME + name)
                .tags("queue", queue, "importFrom", old.name, "routeId", routeId)
                .counter()
                .count();
    }

    private double left(String reason, String routeId) {
        return meters.get(NAME + "left")
                .tags("queue", queue, "importFrom", old.name, "routeId", routeId, "reason", reason)
                .gauge()
                .value();
    }

    private Exchange importNow(String options) {
        return send(uri("&operation=import" + options), null, Map.of());
    }

    @Test
    void should_count_what_the_operation_moves_and_show_what_it_leaves() {
        context.start();
        for (int i = 0; i < 70; i++) {
            old.offer("\"a\"", FAR);
        }
        old.offer("no JSON", FAR);
        importNow("&import.id=body&import.dryRun=true");
        assertThat(meters.find(NAME + "moved").counters()).as("a dry run's").isEmpty();

        assertThat(importNow("&import.id=body").getException()).isNull();
        assertThat(count("moved", "")).isEqualTo(70);
        assertThat(count("renamed", "")).isEqualTo(69);
        assertThat(count("gone", "")).isZero();
        assertThat(count("failed", "")).isZero();
        assertThat(left("notConvertible", "")).isOne();
        assertThat(List.of(left("unreadable", ""), left("outOfRange", ""), left("queueFull", "")))
                .containsOnly(0.0);

        old.pending().clear();
        importNow("&import.id=body");
        assertThat(left("notConvertible", "")).isZero();
        assertThat(count("moved", "")).isEqualTo(70);
        redis.client().getBucket(old.name, StringCodec.INSTANCE).set("somebody's");
        assertThat(importNow("&import.id=body").getException()).hasMessageContaining("WRONGTYPE");
        assertThat(count("failed", "")).isOne();
        context.stop();
        assertThat(meters.getMeters()).isEmpty();
    }

    @Test
    void should_count_what_a_consumer_imports_until_it_is_stopped() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri("")).routeId("bridge").to("log:none?level=OFF");
                from(uri).routeId("plain").to("log:none?level=OFF");
            }
        });
        for (int i = 0; i < 70; i++) {
            old.ready("\"a\"");
        }
        old.ready("no JSON");
        await().untilAsserted(() -> {
            assertThat(count("moved", "bridge")).isEqualTo(70);
            assertThat(left("notConvertible", "bridge")).isOne();
        });
        assertThat(meters.get(NAME + "moved").counters()).hasSize(1);
        old.ready().clear();
        // After a look that took long the next one comes ten seconds later.
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(left("notConvertible", "bridge"))
                .isZero());
        redis.client().getBucket(old.pendingKey, StringCodec.INSTANCE).set("somebody's");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(count("failed", "bridge")).isPositive());
        context.getRouteController().stopRoute("bridge");
        assertThat(meters.find(NAME + "moved").counters()).isEmpty();
        assertThat(meters.find(NAME + "left").gauges()).isEmpty();
    }
}
