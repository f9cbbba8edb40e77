// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.github.redisdelay.testkit.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {

    /** As strict as it can be, and with all digits. */
    private static final ObjectMapper JACKSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
            .build();

    /** Jackson looks at the lower eight bits of the digits behind a {@code u}: U+0131 is a 1. */
    private static final Pattern JACKSONS_OWN = Pattern.compile("\\\\u[0-9a-fA-F]{0,3}[^\\x00-\\x7f]");

    static {
        JACKSON.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNumberLength(1_000_000)
                        .build());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "nul",
                "nulll",
                "[1,2,]",
                "[1 2]",
                "[,]",
                "[",
                "]",
                "{",
                "{\"a\"}",
                "{\"a\":1,}",
                "{\"a\":1 \"b\":2}",
                "{a:1}",
                "{'a':1}",
                "{1:1}",
                "01",
                "-",
                "+1",
                "1.",
                ".5",
                "1e",
                "1e+",
                "0x1",
                "NaN",
                "\"",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\u12\"",
                "\"\t\"",
                "1 2",
                "[1]]",
                "\uFEFF1",
                "// comment\n1",
                "[\"a.B\",1",
                "\"\\u\uFF11234\"",
                "\"\\u\u0131234\""
            })
    void should_refuse_what_is_no_JSON(String text) {
        assertThatThrownBy(() -> JsonText.checked(text))
                .isInstanceOf(ImportRefusedException.class)
                .hasMessageStartingWith("it is no JSON: at character ");
        assertThatThrownBy(() -> JsonText.withoutClasses(text)).isInstanceOf(ImportRefusedException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0",
                "-0.0",
                "1.50",
                "1E400",
                "-1e-05",
                "12345678901234567890.1234567890",
                "true",
                "false",
                "null",
                "\"\"",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\"",
                "\"订单\u007f\u2028\"",
                "[]",
                "{}",
                "[[[]]]",
                "{\"\":{}}",
                "{\"a\":1,\"a\":2}",
                "[1,\"a\",null,{\"b\":[true]}]"
            })
    void should_keep_what_names_no_class(String text) {
        assertThat(JsonText.checked(text)).isEqualTo(text);
        assertThat(JsonText.withoutClasses(text)).isEqualTo(text);
        assertThat(JsonText.withoutClasses(" \r\n\t" + text.replace(",", " , ").replace(":", " : ") + "\n"))
                .isEqualTo(text);
        assertThat(JsonText.namesClasses(text)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"@class\":\"a.B\"} | {}",
                "{\"@class\" : \"a.B\" , \"x\" : 1} | {\"x\":1}",
                "{\"x\":1,\"@class\":\"a.B\",\"y\":2} | {\"x\":1,\"y\":2}",
                "{\"x\":1,\"@class\":\"a.B\"} | {\"x\":1}",
                "{\"x\":{\"@class\":\"a.B\",\"y\":[{\"@class\":\"C\"}]}} | {\"x\":{\"y\":[{}]}}",
                "[\"java.lang.Long\",1.50] | 1.50",
                "[\"a.b.C$D\", {\"@class\":\"a.B\"}] | {}",
                "[\"java.util.ArrayList\",[]] | []",
                "[\"java.util.ArrayList\",[[\"java.util.Date\",1],[\"a.B\",\"x\"]]] | [1,\"x\"]",
                "[\"[Ljava.lang.Throwable;\",[]] | []",
                "[\"[[B\",[\"AQID\"]] | [\"AQID\"]",
                "[\"java.util.EnumMap<a.Color,java.lang.String>\",{\"RED\":\"x\"}] | {\"RED\":\"x\"}",
                "{\"at\":[\"java.util.Date\",17],\"to\":[\"java.math.BigDecimal\",-0.10]} | {\"at\":17,\"to\":-0.10}",
            })
    void should_leave_out_the_names_of_classes(String text, String plain) {
        assertThat(JsonText.withoutClasses(text)).isEqualTo(plain);
        assertThat(JsonText.namesClasses(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"@class\":1}",
                "{\"@Class\":\"a.B\"}",
                "[\"order\",1]",
                "[\"order.created\",1]",
                "[\"a.B\"]",
                "[\"a.B\",1,2]",
                "[1,\"a.B\"]",
                "[\"a.B c\",1]",
                "[\".B\",1]",
                "[\"a..B\",1]",
                "[\"\",1]",
                "[\"[\",1]",
                "[\"www.Example.com\",1]"
            })
    void should_keep_what_only_looks_like_it(String text) {
        assertThat(JsonText.withoutClasses(text)).isEqualTo(text);
    }

    /** The list behind the name of a class has elements, and is no name with a value. */
    @Test
    void should_keep_a_list_of_two_texts() {
        assertThat(JsonText.withoutClasses("[\"java.util.ArrayList\",[\"a.B\",\"x\"]]"))
                .isEqualTo("[\"a.B\",\"x\"]");
        assertThat(JsonText.withoutClasses("[\"java.util.ArrayList\",[\"a.B\",[\"java.util.Date\",1],2]]"))
                .isEqualTo("[\"a.B\",1,2]");
    }

    @Test
    void should_take_the_second_of_two_texts_if_the_first_looks_like_a_class() {
        assertThat(JsonText.withoutClasses("[\"com.example.Order\",\"42\"]")).isEqualTo("\"42\"");
    }

    @Test
    void should_bound_the_depth() {
        int most = JsonText.MAX_DEPTH;
        String deepest = "[".repeat(most + 1) + "]".repeat(most + 1);
        assertThat(JsonText.withoutClasses(deepest)).isEqualTo(deepest);
        String pairs = "[\"a.B\",".repeat(most) + "1" + "]".repeat(most);
        assertThat(JsonText.withoutClasses(pairs)).hasSizeLessThan(pairs.length());
        for (String open : new String[] {"[", "{\"a\":", "[\"a.B\","}) {
            assertThatThrownBy(() -> JsonText.withoutClasses(open.repeat(1_000_000)))
                    .isInstanceOf(ImportRefusedException.class)
                    .hasMessage("its JSON is more than 500 levels deep");
        }
    }

    private static String json(RandomGenerator random, int depth) {
        return switch (random.nextInt(depth > 4 ? 5 : 8)) {
            case 0 -> random.nextLong() + (random.nextBoolean() ? "" : "." + random.nextInt(100));
            case 1 -> random.nextInt() + "e" + random.nextInt(-50, 50);
            case 2 -> random.nextBoolean() ? "true" : "null";
            case 3 -> text(Fuzz.text(random, 30));
            case 4 -> "\"" + (random.nextBoolean() ? "java.util.Date" : "[B") + "\"";
            case 5 -> "[\"java.util.List\" , " + json(random, depth + 1) + "]";
            case 6 -> "[ " + json(random, depth + 1) + "," + json(random, depth + 1) + "]";
            default ->
                "{" + (random.nextBoolean() ? "\"@class\":\"a.B\"," : "") + text(Fuzz.text(random, 8)) + ":"
                        + json(random, depth + 1) + "}";
        };
    }

    private static String text(String any) {
        try {
            return JACKSON.writeValueAsString(any.replaceAll("[\\ud800-\\udfff]", "?"));
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    /** Tells if Jackson finds one value in it. Digits are skipped: an exponent may be too large for it. */
    private static boolean isJson(String text) throws IOException {
        int values = 0;
        try (JsonParser parser = JACKSON.getFactory().createParser(text)) {
            while (parser.nextToken() != null) {
                values += parser.getParsingContext().inRoot() ? 1 : 0;
            }
            return values == 1;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    private static JsonNode tree(String text) {
        try {
            return JACKSON.readTree(text);
        } catch (JsonProcessingException | NumberFormatException e) {
            return null;
        }
    }

    @Test
    void should_take_for_JSON_what_Jackson_takes_for_it() {
        int[] accepted = new int[2];
        Fuzz.run("JSON", 40_000, random -> {
            String text = json(random, 0);
            if (random.nextInt(4) > 0) {
                byte[] changed = Fuzz.mutated(text.getBytes(StandardCharsets.UTF_8), random);
                text = new String(changed, StandardCharsets.UTF_8);
            }
            if (JACKSONS_OWN.matcher(text).find()) {
                return;
            }
            boolean isJson = isJson(text);
            accepted[isJson ? 1 : 0]++;
            if (isJson) {
                assertThat(JsonText.checked(text)).isEqualTo(text);
                String plain = JsonText.withoutClasses(text);
                assertThat(isJson(plain)).as(plain).isTrue();
                if (!JsonText.namesClasses(text)) {
                    assertThat(tree(plain)).isEqualTo(tree(text));
                }
            } else {
                String refused = text;
                assertThatThrownBy(() -> JsonText.checked(refused))
                        .as(refused)
                        .isInstanceOf(ImportRefusedException.class);
            }
        });
        assertThat(accepted[0]).as("refused").isGreaterThan(500);
        assertThat(accepted[1]).as("accepted").isGreaterThan(500);
    }
}
