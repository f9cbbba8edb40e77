// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImportedMessageTest {

    @Test
    void should_be_stored_with_its_headers() {
        ImportedMessage message = new ImportedMessage("text", "order-1", Map.of("tenant", "a", "lines", 2));
        assertThat(message.toEnvelope().body()).isEqualTo("text");
        assertThat(message.toEnvelope().headers()).containsEntry("tenant", "a").containsEntry("lines", 2);
    }

    @Test
    void should_refuse_what_cannot_be_stored() {
        assertThatThrownBy(() -> ImportedMessage.of(new ArrayList<>()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.util.ArrayList");
        assertThatThrownBy(() -> ImportedMessage.of(new BigDecimal(BigInteger.ONE, 10_001)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too long");
        assertThatThrownBy(() -> new ImportedMessage("text", null, Map.of("list", List.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("header 'list'");
        assertThatThrownBy(() -> new ImportedMessage("text", "x".repeat(257), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("257 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"order-1", "订单-42", "x"})
    void should_have_its_text_as_id(String text) {
        ImportedMessage message = new ImportedMessage(text, null, Map.of("tenant", "a")).withBodyAsId();
        assertThat(message).isEqualTo(new ImportedMessage(text, text, Map.of("tenant", "a")));
    }

    static List<Object> wholeNumbers() {
        return List.of((byte) 42, (short) 42, 42, 42L, BigInteger.valueOf(42));
    }

    @ParameterizedTest
    @MethodSource("wholeNumbers")
    void should_have_its_number_as_id(Object number) {
        assertThat(ImportedMessage.of(number).withBodyAsId()).isEqualTo(new ImportedMessage(number, "42", Map.of()));
    }

    @Test
    void should_refuse_an_id_that_is_none() {
        assertRefused("", "has 0 bytes: it must have 1 to 256 bytes");
        assertRefused("订".repeat(86), "has 258 bytes: it must have 1 to 256 bytes");
        assertRefused("a\nb", "control character at position 1");
        assertRefused(new byte[] {1}, "needs a text or a whole number as body, and this is of type byte[]");
        assertRefused(null, "and this is null");
        assertRefused(1.5, "java.lang.Double");
        assertRefused(true, "java.lang.Boolean");
    }

    private static void assertRefused(Object body, String reason) {
        ImportedMessage message = ImportedMessage.of(body);
        assertThatThrownBy(message::withBodyAsId)
                .isInstanceOf(ImportRefusedException.class)
                .hasMessageStartingWith("import.id=body")
                .hasMessageContaining(reason);
    }
}
