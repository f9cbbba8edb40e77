// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Writing and reading an envelope: 200 bytes of text alone, and with a content type and five headers. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EnvelopeBenchmark {

    private final String body = "abcdefghij".repeat(20);
    private final Map<String, Object> headers = headers();
    private final byte[] plain = Envelope.of(body).encode();
    private final byte[] withHeaders =
            Envelope.of(body, "application/json", headers).encode();

    private static Map<String, Object> headers() {
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put("orderId", "4711-0815");
        headers.put("customer", 123_456_789L);
        headers.put("attempts", 3);
        headers.put("express", true);
        headers.put("placedAt", Instant.ofEpochSecond(1_700_000_000));
        return headers;
    }

    @Benchmark
    public byte[] encode() {
        return Envelope.of(body).encode();
    }

    @Benchmark
    public byte[] encodeWithHeaders() {
        return Envelope.of(body, "application/json", headers).encode();
    }

    @Benchmark
    public Envelope decode() {
        return Envelope.decode(plain);
    }

    @Benchmark
    public Envelope decodeWithHeaders() {
        return Envelope.decode(withHeaders);
    }
}
