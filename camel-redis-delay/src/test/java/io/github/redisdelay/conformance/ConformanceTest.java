// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import io.github.redisdelay.queue.internal.partition.PartitionHash;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The vectors that need no Redis. */
class ConformanceTest {

    // Envelopes

    private static Map<String, Object> typed(Object value) {
        if (value instanceof Instant time) {
            return Map.of("instant", List.of(time.getEpochSecond(), time.getNano()));
        } else if (value instanceof byte[] bytes) {
            return Json.object("bytes", bytes);
        } else if (value instanceof Number && !(value instanceof Float || value instanceof Double)) {
            // As text: not all readers of JSON have integers of 64 bits.
            return Map.of(TYPES.get(value.getClass()), value.toString());
        }
        return value == null
                ? Map.of("null", "")
                : value instanceof UUID ? Map.of("uuid", value.toString()) : Map.of(TYPES.get(value.getClass()), value);
    }

    private static final Map<Class<?>, String> TYPES = Map.of(
            String.class, "text",
            Boolean.class, "boolean",
            Byte.class, "int8",
            Short.class, "int16",
            Integer.class, "int32",
            Long.class, "int64",
            Float.class, "float32",
            Double.class, "float64",
            BigInteger.class, "integer",
            BigDecimal.class, "decimal");

    private static Map<String, Object> row(Envelope envelope) {
        byte[] bytes = envelope.encode();
        assertThat(Envelope.decode(bytes)).isEqualTo(envelope);
        Envelope.Settings settings = envelope.settings();
        return Json.object(
                "envelope", "hex:" + HexFormat.of().formatHex(bytes),
                "body", typed(envelope.body()),
                "contentType", envelope.contentType(),
                "headers",
                        envelope.headers().isEmpty()
                                ? null
                                : envelope.headers().entrySet().stream()
                                        .map(header -> List.of(header.getKey(), typed(header.getValue())))
                                        .toList(),
                "deduplicationPeriod", millis(settings.deduplicationPeriod()),
                "timeToLive", millis(settings.timeToLive()),
                "retryPolicy", settings.retryPolicy());
    }

    private static Long millis(Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    @Test
    void should_write_these_envelopes_and_read_them() {
        List<Object> values = new ArrayList<>(List.of(
                "hi",
                "",
                "ä 訂 😀",
                true,
                false,
                (byte) -1,
                (short) 300,
                -70_000,
                Long.MIN_VALUE,
                1.5f,
                -0.1,
                1e300,
                new BigInteger("-123456789012345678901234567890"),
                new BigDecimal("0.10"),
                new BigDecimal("1E+400")));
        List<Map<String, Object>> rows = new ArrayList<>();
        rows.add(row(Envelope.of(null)));
        rows.add(row(Envelope.of(new byte[] {0, 1, (byte) 0xff})));
        values.forEach(value -> rows.add(row(Envelope.of(value))));
        values.addAll(List.of(
                Instant.parse("2027-01-15T08:00:00.000000001Z"),
                Instant.parse("1969-12-31T23:59:59.5Z"),
                new byte[] {(byte) 0x80, 0},
                UUID.fromString("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")));
        Map<String, Object> headers = new LinkedHashMap<>();
        values.forEach(value -> headers.put(
                "h" + headers.size() + value.getClass().getSimpleName().replace("[]", "s"), value));
        rows.add(row(Envelope.of("all types", "text/plain", headers)));
        rows.add(row(Envelope.of(
                "settings",
                null,
                Map.of("name ä", "value"),
                new Envelope.Settings(
                        Duration.ofHours(1),
                        Duration.ofDays(365),
                        "maximumRedeliveries=5;redeliveryDelays=15000,180000"))));
        rows.add(row(Envelope.of("x".repeat(40), "application/json", Map.of("long", "y".repeat(200)))));
        // A field that may be skipped, and what is written then.
        String skipped = "f9 12 03 7f 01 aa 68 69";
        assertThat(Envelope.decode(hex(skipped)).encode()).isEqualTo(hex("f9 02 68 69"));
        rows.add(Json.object(
                "envelope",
                "hex:" + skipped.replace(" ", ""),
                "body",
                Map.of("text", "hi"),
                "written",
                "hex:f9026869"));
        refusals().forEach((bytes, why) -> {
            assertThatThrownBy(() -> Envelope.decode(hex(bytes))).as(why).isInstanceOf(EnvelopeFormatException.class);
            rows.add(Json.object("envelope", "hex:" + bytes.replace(" ", ""), "refused", why));
        });
        VectorFiles.assertRows("envelopes.json", rows);
    }

    private static byte[] hex(String bytes) {
        return HexFormat.of().parseHex(bytes.replace(" ", ""));
    }

    private static Map<String, String> refusals() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("7b 7d", "no marker");
        all.put("fa 02 68 69", "another version");
        all.put("f9", "it ends before the body type");
        all.put("f9 05", "an unknown body type");
        all.put("f9 22 68 69", "an unknown flag");
        all.put("f9 00 68", "a body of null");
        all.put("f9 02 ff", "no UTF-8");
        all.put("f9 04 02", "a boolean of 2");
        all.put("f9 03 05 00", "a number that is cut off");
        all.put("f9 12 80 00 68", "a varint that is too long");
        all.put("f9 12 05 01 01", "fields that are cut off");
        all.put("f9 12 03 83 01 61 68", "a field that must not be skipped");
        all.put("f9 12 06 01 01 61 01 01 62", "two content types");
        all.put("f9 12 0a 02 03 01 61 0c 02 03 01 61 0c", "two headers of one name");
        all.put("f9 12 05 02 03 01 61 0e", "an unknown type of value");
        all.put("f9 12 0a 81 08 00 00 00 00 00 00 00 00", "a time to live of 0");
        return all;
    }

    @Test
    void should_find_messages_in_these_partitions() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int count : new int[] {2, 3, 64}) {
            for (String id : List.of(
                    "order-1", "order-2", "訂單", "report@1800000000000000", "a@b@1800000000000000@1800000000000001")) {
                int partition = PartitionHash.of(id, count);
                rows.add(Json.object(
                        "id", id,
                        "partitions", count,
                        "partition", partition,
                        "tag", PartitionHash.tag("orders", partition, count)));
            }
        }
        IntStream.range(0, 2)
                .forEach(partition -> rows.add(Json.object(
                        "partitions", 2, "partition", partition, "tag", PartitionHash.tag("orders", partition, 2))));
        VectorFiles.assertRows("partitions.json", rows);
    }
}
