// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailureTest {

    private static Optional<Failure> read(byte[] lastFailure) {
        return Failure.of(
                new MessageInfo("id", MessageState.DELAYED, 0, 0, "", 1, RedeliveryReason.FAILED, 0, lastFailure));
    }

    private static Optional<Failure> read(String lastFailure) {
        return read(lastFailure.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void should_tell_all_that_is_stored() {
        Instant time = Instant.parse("2030-01-31T10:15:00.123Z");
        FailureRecord record =
                new FailureRecord("java.io.IOException", "\"no\" ü", "notify", "app-1", 10, time, "failed");
        assertThat(read(record.encode()))
                .contains(new Failure("java.io.IOException", "\"no\" ü", "notify", "app-1", 10, time, "failed"));
    }

    @Test
    void should_leave_unknown_what_cannot_be_read() {
        Failure nothing = new Failure(null, null, null, null, 0, null, null);
        assertThat(read("{}")).contains(nothing);
        assertThat(read("{\"exception\":5,\"attempt\":-1,\"time\":\"1970-01-01T00:00:00Z\",\"reason\":[]}"))
                .contains(nothing);
        assertThat(read("{\"attempt\":1e999999999,\"host\":null}")).contains(nothing);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "text", "[]", "null", "{", "\0", "[[[[[[[[["})
    void should_be_empty_if_there_is_none(String stored) {
        assertThat(read(stored)).isEmpty();
        assertThat(read(new byte[] {(byte) 0xff, 0, (byte) 0x80})).isEmpty();
        assertThat(read(("{\"message\":\"" + "x".repeat(5000) + "\"}"))).isEmpty();
    }
}
