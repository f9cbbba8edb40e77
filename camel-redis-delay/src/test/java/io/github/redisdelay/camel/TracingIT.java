// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.opentelemetry2.OpenTelemetryTracer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traces that Camel's tracer for OpenTelemetry makes of delayed messages. */
class TracingIT extends ConsumerSideIT {

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();

    @AfterEach
    void closeProvider() {
        provider.close();
    }

    private List<SpanData> spans(String operation) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(queue))
                .filter(span -> operation.equals(text(span, "op")))
                .toList();
    }

    private static String text(SpanData span, String attribute) {
        return span.getAttributes().get(AttributeKey.stringKey(attribute));
    }

    private void trace() {
        context.getRegistry().bind("tracer", provider.get("test"));
        context.getRegistry().bind("propagators", ContextPropagators.create(W3CTraceContextPropagator.getInstance()));
        new OpenTelemetryTracer().init(context);
    }

    @Test
    void should_name_spans_of_an_endpoint_that_a_route_intercepts() throws Exception {
        trace();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                interceptSendToEndpoint("redis-delay:*").process(exchange -> {});
                from("direct:in").to(uri + "?delay=1h");
            }
        });
        send("direct:in", "x", Map.of());
        assertThat(exporter.getFinishedSpanItems())
                .extracting(SpanData::getName)
                .contains(queue);
        assertThat(spans("EVENT_SENT")).allSatisfy(span -> assertThat(text(span, "messaging.destination.name"))
                .isEqualTo(queue));
    }

    @Test
    void should_make_one_trace_of_a_delayed_message_and_its_redelivery() throws Exception {
        trace();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("direct:in").to(uri + "?delay=50ms");
                from(uri + FAST).routeId("consumer").process(exchange -> {
                    take(exchange);
                    if (received.size() == 1) {
                        throw new IllegalStateException("expected by the test");
                    }
                });
            }
        });
        send(
                "direct:in",
                "x",
                Map.of(RedisDelayConstants.SCHEDULE_ID, "order-1", RedisDelayConstants.GROUP, "acme", "Color", "red"));
        await().untilAsserted(() -> assertThat(spans("EVENT_RECEIVED")).hasSize(2));

        SpanData sent = spans("EVENT_SENT").get(0);
        List<SpanData> deliveries = spans("EVENT_RECEIVED");
        assertThat(spans("EVENT_SENT")).hasSize(1);
        assertThat(exporter.getFinishedSpanItems())
                .extracting(SpanData::getTraceId)
                .containsOnly(sent.getTraceId());
        assertThat(deliveries).extracting(SpanData::getParentSpanId).containsOnly(sent.getSpanId());
        assertThat(deliveries).extracting(span -> text(span, "error")).containsExactlyInAnyOrder("true", null);
        assertThat(Stream.concat(Stream.of(sent), deliveries.stream())).allSatisfy(span -> {
            assertThat(text(span, "messaging.system")).isEqualTo("redis-delay");
            assertThat(text(span, "messaging.destination.name")).isEqualTo(queue);
            assertThat(text(span, "messaging.message.id")).isEqualTo("order-1");
            assertThat(text(span, "messaging.redis_delay.message.group")).isEqualTo("acme");
            assertThat(text(span, "server.address")).isEqualTo(redis.address());
        });
    }
}
