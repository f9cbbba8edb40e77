// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The codecs read what real releases of Redisson wrote, and refuse the rest of it. */
class ImportCodecTest {

    private static ImportRefusedException refusal(ImportConverter codec, byte[] payload) {
        return catchThrowableOfType(ImportRefusedException.class, () -> codec.convert(payload));
    }

    private static byte[] hex(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /** Numbers of java.math that are objects with fields, and a text that may be another one. */
    private static boolean isLeft(Payload payload) {
        return payload.codec().equals("kryo5") && payload.name().equals("text-first-control")
                || payload.codec().equals("marshalling") && payload.name().matches("(decimal|integer)-.*")
                || payload.codec().equals("fst") && payload.name().startsWith("decimal-");
    }

    @ParameterizedTest
    @CsvSource({"fst, 3.12.5, 90", "marshalling, 3.16.8 3.20.1 3.21.1, 250", "kryo5, 3.20.1 3.21.1 3.52.0 4.7.0, 350"})
    void should_read_what_each_Redisson_wrote(String name, String releases, int atLeast) {
        ImportCodec codec = ImportCodec.of(name);
        List<Payload> readable = Payload.of(name).stream()
                .filter(payload -> !payload.isRefused() && !isLeft(payload))
                .toList();
        for (Payload payload : readable) {
            ImportedMessage message = codec.convert(payload.bytes());
            assertThat(message.body()).as(payload.toString()).isEqualTo(payload.value());
            assertThat(message.toEnvelope().body()).isEqualTo(payload.value());
            assertThat(message.id()).isNull();
            assertThat(message.headers()).isEmpty();
        }
        assertThat(readable).hasSizeGreaterThan(atLeast);
        assertThat(readable.stream().map(Payload::redisson).distinct()).containsExactly(releases.split(" "));
    }

    @Test
    void should_read_what_StringCodec_wrote() {
        for (Payload payload : Payload.of("string")) {
            assertThat(ImportCodec.STRING.convert(payload.bytes()).body()).isEqualTo(payload.sameText());
        }
        assertThat(Payload.of("string")).hasSizeGreaterThan(100);
        byte[] bytes = hex("fe01");
        assertThat(ImportCodec.STRING.convert(bytes).body()).isSameAs(bytes);
    }

    @Test
    void should_give_raw_bytes_as_they_are() {
        byte[] bytes = hex("03706c6169ee");
        assertThat(ImportCodec.RAW.convert(bytes).body()).isSameAs(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fst", "marshalling", "kryo5"})
    void should_refuse_objects_and_say_of_which_class(String name) {
        ImportCodec codec = ImportCodec.of(name);
        Map<String, String> classes = Map.of(
                "refused-uuid", "java.util.UUID",
                "refused-date", "java.util.Date",
                "refused-hashmap", "java.util.HashMap",
                "refused-arraylist", name.equals("marshalling") ? "a collection or a map" : "java.util.ArrayList",
                "refused-strings", name.equals("marshalling") ? "an array" : "[Ljava.lang.String;",
                "refused-order", "io.github.redisdelay.migration.Order",
                "refused-enum", "io.github.redisdelay.migration.Order$Color",
                "refused-throwable", "java.lang.IllegalStateException",
                "text-half-pair", "half of a surrogate pair");
        List<Payload> refused =
                Payload.of(name).stream().filter(Payload::isRefused).toList();
        for (Payload payload : refused) {
            assertThat(refusal(codec, payload.bytes()))
                    .as(payload.toString())
                    .hasMessageContaining("codec '" + name + "'")
                    .hasMessageContaining(payload.bytes().length + " bytes")
                    .hasMessageContaining(classes.get(payload.name()))
                    .hasMessageContaining("begins with " + ImportCodec.firstBytes(payload.bytes()));
        }
        assertThat(refused.stream().map(Payload::name)).containsAll(classes.keySet());
        Payload.of(name).stream().filter(ImportCodecTest::isLeft).forEach(payload -> assertThat(
                        refusal(codec, payload.bytes()))
                .hasMessageContaining(payload.name().startsWith("text") ? "U+0001" : "java.math.Big"));
    }

    @ParameterizedTest
    @CsvSource({
        "kryo5, 0383c341",
        "kryo5, 0382bf",
        "kryo5, 0382f0",
        "marshalling, 043e01e4b841",
        "marshalling, 043e0180"
    })
    void should_refuse_text_that_is_not_well_formed(String codec, String payload) {
        assertThat(refusal(ImportCodec.of(codec), hex(payload + "6161")))
                .hasMessageContaining("its text is not well-formed at byte ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0380", "010080"})
    void should_refuse_null_as_a_text_or_as_the_name_of_a_class(String payload) {
        assertThat(refusal(ImportCodec.KRYO5, hex(payload))).hasMessageContaining("it has a text that is null");
    }

    /** The same bytes are a text for a codec without references and another text for one with them. */
    @Test
    void should_refuse_text_of_a_Kryo_codec_with_references() {
        List<Payload> texts = Payload.of("kryo5-references").stream()
                .filter(payload -> payload.name().matches("(text|decimal|integer|bytes|refused)-.*"))
                .toList();
        for (Payload payload : texts) {
            assertThat(refusal(ImportCodec.KRYO5, payload.bytes()))
                    .as(payload.toString())
                    .isNotNull();
        }
        assertThat(texts).hasSizeGreaterThan(100);
        assertThat(refusal(
                        ImportCodec.KRYO5,
                        Payload.of("kryo5-references", "text-ascii").bytes()))
                .hasMessageContaining("useReferences");
    }

    @Test
    void should_take_the_classes_out_of_JSON() {
        String expected = """
                {"at":1700000000000,"cents":4711,"color":"RED","id":"order-1","lines":["a","b"]}""";
        for (Payload payload : Payload.of("json")) {
            String body =
                    (String) ImportCodec.PLAIN_JSON.convert(payload.bytes()).body();
            String before = new String(payload.bytes(), StandardCharsets.UTF_8);
            switch (payload.name()) {
                case "refused-order" -> assertThat(body).isEqualTo(expected);
                case "refused-hashmap" -> assertThat(body).isEqualTo("{\"key\":\"value\"}");
                case "refused-arraylist", "refused-strings" -> assertThat(body).isEqualTo("[\"one\",\"two\"]");
                case "refused-date" -> assertThat(body).isEqualTo("1700000000000");
                case "refused-throwable" -> assertThat(body).doesNotContain("java.");
                default ->
                    assertThat(body)
                            .as(payload.toString())
                            .isEqualTo(before.replaceFirst("^\\[\"[\\w.]+\",(.*)]$", "$1"));
            }
            assertThat(ImportCodec.JSON.convert(payload.bytes()).body()).isEqualTo(before);
        }
        assertThat(Payload.of("json").stream().map(Payload::name)).contains("refused-order", "long-1", "decimal-1.50");
    }

    @ParameterizedTest
    @EnumSource
    void should_be_found_by_its_name(ImportCodec codec) {
        assertThat(ImportCodec.of(codec.optionValue())).isSameAs(codec);
    }

    @Test
    void should_name_the_codecs_that_there_are() {
        assertThatThrownBy(() -> ImportCodec.of("KRYO5"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "there is no codec 'KRYO5': it must be string, json, plainJson, kryo5, marshalling, fst, raw,"
                                + " or set 'import.converter' to a converter of your own");
    }

    @Test
    void should_name_no_control_characters_of_a_codec() {
        assertThatThrownBy(() -> ImportCodec.of("json\r\nINFO  all is well"))
                .hasMessageContaining("'json??INFO  all is well'");
    }

    @Test
    void should_guess_the_codec_of_what_Redisson_wrote() {
        List<Payload> possible = Payload.ALL.stream()
                .filter(payload -> !payload.name().equals("null"))
                .toList();
        for (Payload payload : possible) {
            CodecGuess guess = CodecGuess.of(payload.bytes());
            String expected = payload.codec().replace("kryo5-references", "kryo5");
            if (payload.codec().equals("string")) {
                expected = payload.name().equals("text-json")
                        ? "json"
                        : payload.name().matches("text-(nul.*|first-control|controls)") ? "raw" : "string";
            }
            if (payload.codec().equals("json")) {
                String text = new String(payload.bytes(), StandardCharsets.UTF_8);
                boolean bare = !text.matches("[\\[{\"].*");
                boolean names = text.contains("java.") || text.contains("@class");
                expected = bare ? "string" : names ? "plainJson" : "json";
            }
            assertThat(guess.codec().optionValue())
                    .as(payload + ": " + guess.reason())
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', string, it has no bytes",
        "aced00057372, raw, ac ed is Java serialization",
        "7b7d, json, it is JSON",
        "7b5d, string, it is UTF-8 without control characters",
        "3432, string, it is UTF-8 without control characters",
        "03706c6169ee, kryo5, the codec reads the whole payload: String",
        "043e05706c61696e, marshalling, the codec reads the whole payload: String",
        "fc05706c61696e, fst, the codec reads the whole payload: String",
        "043e026162, marshalling, the codec reads the whole payload: String",
        "0400000000, kryo5, the codec reads the whole payload: Float",
        "01006f2e4f72646572e5, kryo5, 'the first bytes are its own, but codec ''kryo5'''",
        "feff, raw, no codec is known that begins so: fe ff"
    })
    void should_say_what_a_guess_rests_on(String payload, String codec, String reason) {
        CodecGuess guess = CodecGuess.of(hex(payload));
        assertThat(guess.codec().optionValue()).isEqualTo(codec);
        assertThat(guess.reason()).startsWith(reason);
    }
}
