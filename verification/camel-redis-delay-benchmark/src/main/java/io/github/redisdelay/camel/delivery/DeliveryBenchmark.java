// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.envelope.Envelope;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.camel.Exchange;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A delivery from its admission to the answer to its acknowledgement, without a route: alone, and with meters. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DeliveryBenchmark {

    private final byte[] body = Envelope.of("abcdefghij".repeat(20)).encode();
    private final DeliveryPolicy policy = new OptionReader(new RedisDelayConfiguration())
            .consumer("orders", Set.of())
            .policy();
    private final DefaultCamelContext context = new DefaultCamelContext();
    private final Exchange exchange = new DefaultExchange(context);
    private DeliveryReport plain;
    private DeliveryReport measuring;
    private Meters.Use producing;
    private CallListener calls;

    @Setup
    public void open() {
        context.getRegistry().bind("metricsRegistry", new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
        Meters meters = Meters.of(context, "redis-delay", () -> (delayNanos, task) -> () -> {});
        Meters.MeteredQueue queue =
                new Meters.MeteredQueue("redis-delay", "nowhere", fake(DelayQueue.class), fake(Reference.class));
        plain = new DeliveryReport(new LongAdder(), () -> {}, Meters.Consuming.NONE);
        measuring = new DeliveryReport(new LongAdder(), () -> {}, meters.consuming(queue, "route", false));
        producing = meters.producing(queue);
        calls = meters.calls("nowhere", "redis-delay");
    }

    /** Makes an object that gives its name, itself, and other objects of this kind. */
    private static <T> T fake(Class<T> type) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Class<?> asked = method.getReturnType();
                    return asked == String.class ? "jmh" : asked.isInstance(proxy) ? proxy : fake(asked);
                }));
    }

    @TearDown
    public void close() throws IOException {
        context.close();
    }

    private Object deliver(DeliveryReport report) {
        DeliveryCompletion completion =
                DeliveryCompletion.admit(new AnsweredDelivery(body), policy, report, "route", () -> {});
        completion.begun();
        new ExchangeCompletion(completion).onComplete(exchange);
        return completion;
    }

    /** No registry is bound. */
    @Benchmark
    public Object plain() {
        return deliver(plain);
    }

    /** Five meters in the registry of Prometheus. */
    @Benchmark
    public Object measured() {
        return deliver(measuring);
    }

    /** The meter of a message that is scheduled. */
    @Benchmark
    public void scheduleMeter() {
        producing.count(Meters.Event.SCHEDULED, 1);
    }

    /** The meter of a call, which many messages share. */
    @Benchmark
    public void callMeter() {
        calls.ended("schedule", 150_000, false);
    }
}
