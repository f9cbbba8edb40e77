// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.Settlement;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailureRecordTest {

    private static final Instant TIME = Instant.parse("2030-01-31T10:15:00.123456Z");

    private static JsonObject json(FailureRecord record) throws Exception {
        byte[] bytes = record.encode();
        assertThat(bytes).hasSizeLessThanOrEqualTo(Settlement.MAX_FAILURE_BYTES);
        return (JsonObject) Jsoner.deserialize(new String(bytes, StandardCharsets.UTF_8));
    }

    @Test
    void should_say_what_failed_where_and_when() throws Exception {
        JsonObject json = json(new FailureRecord(
                "java.net.ConnectException",
                "Connection \"refused\"\n\\ \u0001 ü 😀",
                "notify",
                "app-1",
                10,
                TIME,
                null));
        assertThat(json.getString("exception")).isEqualTo("java.net.ConnectException");
        assertThat(json.getString("message")).isEqualTo("Connection \"refused\"\n\\ \u0001 ü 😀");
        assertThat(json.getString("routeId")).isEqualTo("notify");
        assertThat(json.getString("host")).isEqualTo("app-1");
        assertThat(json.getInteger("attempt")).isEqualTo(10);
        assertThat(json.getString("time")).isEqualTo("2030-01-31T10:15:00.123Z");
    }

    @Test
    void should_leave_out_what_there_is_not() throws Exception {
        assertThat(json(new FailureRecord(null, null, null, "h", 1, TIME, null)))
                .containsOnlyKeys("host", "attempt", "time");
    }

    @Test
    void should_stay_readable_when_the_message_is_too_long() throws Exception {
        for (String part : new String[] {"x", "\u0000", "\"", "ü", "😀", "\uD800"}) {
            JsonObject json = json(new FailureRecord("E", part.repeat(5000), "r".repeat(5000), "h", 1, TIME, null));
            assertThat(json.getString("message")).endsWith("…").hasSizeGreaterThan(400);
            assertThat(json.getString("routeId")).endsWith("…");
        }
    }

    @Test
    void should_be_read_as_it_was_written() {
        FailureRecord record = new FailureRecord(
                "java.net.ConnectException", "\"refused\" 😀", "notify", "app-1", 10, TIME, "no such account");
        assertThat(FailureRecord.decode(record.encode()))
                .isEqualTo(new FailureRecord(
                        "java.net.ConnectException",
                        "\"refused\" 😀",
                        "notify",
                        "app-1",
                        10,
                        Instant.parse("2030-01-31T10:15:00.123Z"),
                        "no such account"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "known",
                "{",
                "[1]",
                "\"text\"",
                "null",
                "7",
                "{\"a\":}",
                "\u0000",
                "{\"exception\":\"E\"",
                "{]",
                "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
            })
    void should_be_null_when_it_cannot_be_read(String text) {
        assertThat(FailureRecord.decode(text.getBytes(StandardCharsets.UTF_8))).isNull();
    }

    @Test
    void should_be_null_when_it_is_no_text() {
        assertThat(FailureRecord.decode(new byte[] {(byte) 0xff, 0, (byte) 0x80, 1}))
                .isNull();
        assertThat(FailureRecord.decode("[".repeat(4096).getBytes(StandardCharsets.UTF_8)))
                .isNull();
    }

    @Test
    void should_leave_out_members_of_other_types() {
        String text = "{\"exception\":5,\"message\":[\"x\"],\"routeId\":null,\"host\":{},\"attempt\":\"3\","
                + "\"time\":\"yesterday\",\"reason\":true,\"more\":1}";
        assertThat(FailureRecord.decode(text.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new FailureRecord(null, null, null, null, 0, Instant.EPOCH, null));
        String far = "{\"time\":\"+1000000000-12-31T23:59:59Z\",\"attempt\":1e400}";
        assertThat(FailureRecord.decode(far.getBytes(StandardCharsets.UTF_8)).time())
                .isEqualTo(Instant.EPOCH);
    }
}
