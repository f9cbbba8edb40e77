// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.github.redisdelay.queue.envelope.Envelope.BodyType;
import io.github.redisdelay.queue.envelope.Envelope.Settings;
import io.github.redisdelay.testkit.RandomTests;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class EnvelopeTest {

    private static final UUID AN_UUID = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

    static Stream<Object> numbers() {
        return Stream.of(
                Byte.MIN_VALUE,
                (byte) -1,
                Byte.MAX_VALUE,
                Short.MIN_VALUE,
                (short) -2,
                Short.MAX_VALUE,
                Integer.MIN_VALUE,
                -3,
                0,
                Integer.MAX_VALUE,
                Long.MIN_VALUE,
                -4L,
                Long.MAX_VALUE,
                -0.0f,
                Float.MIN_VALUE,
                Float.NaN,
                Float.NEGATIVE_INFINITY,
                -0.0d,
                0.1d,
                Double.MAX_VALUE,
                Double.NaN,
                BigInteger.TWO.pow(200).negate(),
                BigInteger.TEN.pow(4095),
                new BigDecimal("1.50"),
                new BigDecimal("-0.000000001234"),
                new BigDecimal("1E+10000"),
                new BigDecimal("1E-10000"),
                new BigDecimal("0E+5"),
                new BigDecimal("12345678901234567890.12345678901234567890"));
    }

    static Stream<Object> values() {
        return Stream.concat(numbers(), Stream.of("", "text", "grüße, 世界 \uD83D\uDE00 \uFFFD \u0000", true, false));
    }

    static Stream<Object> headerValues() {
        return Stream.concat(
                values(),
                Stream.of(
                        Instant.EPOCH,
                        Instant.parse("1969-12-31T23:59:59.999999999Z"),
                        Instant.parse("2026-03-01T10:15:30.123456789Z"),
                        Instant.MIN,
                        Instant.MAX,
                        AN_UUID,
                        new UUID(-1, -1)));
    }

    @ParameterizedTest
    @MethodSource("values")
    void a_body_comes_back_with_its_type(Object body) {
        Envelope read = Envelope.decode(Envelope.of(body).encode());

        assertThat(read.body()).isEqualTo(body).hasSameClassAs(body);
        assertThat(read.bodyType())
                .isEqualTo(
                        body instanceof String
                                ? BodyType.TEXT
                                : body instanceof Boolean ? BodyType.BOOLEAN : BodyType.NUMBER);
    }

    @Test
    void a_null_body_comes_back() {
        Envelope read = Envelope.decode(Envelope.of(null).encode());

        assertThat(read.body()).isNull();
        assertThat(read.bodyType()).isEqualTo(BodyType.NULL);
    }

    @Test
    void bytes_come_back_as_they_are() {
        byte[] all = new byte[256];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }

        Envelope read = Envelope.decode(Envelope.of(all).encode());

        assertThat(read.body()).isEqualTo(all);
        assertThat(read.bodyBytes()).isEqualTo(all);
        assertThat(read.bodyType()).isEqualTo(BodyType.BYTES);
    }

    @ParameterizedTest
    @MethodSource("headerValues")
    void a_header_comes_back_with_its_type(Object value) {
        Envelope read =
                Envelope.decode(Envelope.of("body", null, Map.of("näme", value)).encode());

        assertThat(read.headers()).containsOnlyKeys("näme");
        assertThat(read.headers().get("näme")).isEqualTo(value).hasSameClassAs(value);
        assertThat(read.body()).isEqualTo("body");
    }

    @Test
    void bytes_in_a_header_come_back() {
        Envelope read = Envelope.decode(
                Envelope.of(null, null, Map.of("k", new byte[] {1, -1})).encode());

        assertThat(read.headers().get("k")).isEqualTo(new byte[] {1, -1});
    }

    @Test
    void headers_keep_their_order_and_the_content_type_is_kept_apart() {
        Map<String, Object> headers = new LinkedHashMap<>();
        for (int i = 99; i >= 0; i--) {
            headers.put("h" + i, i);
        }

        Envelope read =
                Envelope.decode(Envelope.of("{}", "application/json", headers).encode());

        assertThat(List.copyOf(read.headers().entrySet())).isEqualTo(List.copyOf(headers.entrySet()));
        assertThat(read.contentType()).isEqualTo("application/json");
        assertThat(read).isEqualTo(Envelope.of("{}", "application/json", headers));
        assertThat(read.size()).isEqualTo(read.encode().length);
    }

    @Test
    void settings_come_back() {
        Settings all = new Settings(Duration.ofHours(1), Duration.ofMillis(1), "maximumRedeliveries=5");
        for (Settings settings : List.of(
                all,
                new Settings(Duration.ofMillis(Long.MAX_VALUE), null, null),
                new Settings(null, Duration.ofDays(365), null),
                new Settings(null, null, ""),
                new Settings(null, null, "grüße"))) {
            Envelope read = Envelope.decode(
                    Envelope.of("body", "text/plain", Map.of("h", 1), settings).encode());

            assertThat(read.settings()).isEqualTo(settings);
            assertThat(read).isEqualTo(Envelope.of("body", "text/plain", Map.of("h", 1), settings));
            assertThat(read.size()).isEqualTo(read.encode().length);
        }
        assertThat(Envelope.decode(Envelope.of("body").encode()).settings()).isEqualTo(Settings.NONE);
        assertThat(Envelope.of("body", null, Map.of())).isNotEqualTo(Envelope.of("body", null, Map.of(), all));
    }

    @Test
    void settings_of_less_than_a_millisecond_are_refused() {
        for (Duration duration : List.of(Duration.ZERO, Duration.ofNanos(999_999), Duration.ofSeconds(-1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Settings(duration, null, null))
                    .withMessageContaining("deduplicationPeriod is " + duration + ": it must be 1 millisecond or more");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Settings(null, duration, null))
                    .withMessageContaining("timeToLive is " + duration);
        }
    }

    @Test
    void large_parts_come_back() {
        String large = "x".repeat(3_000_000);

        Envelope read =
                Envelope.decode(Envelope.of(large, large, Map.of(large, large)).encode());

        assertThat(read).isEqualTo(Envelope.of(large, large, Map.of(large, large)));
    }

    static Stream<Arguments> golden() {
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put("n", 42);
        headers.put("t", Instant.ofEpochSecond(1, 5));
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("b", true);
        more.put("l", -1L);
        more.put("f", 1.0f);
        more.put("d", -2.0d);
        more.put("i8", (byte) -128);
        more.put("i16", (short) 258);
        more.put("i", new BigInteger("-123"));
        more.put("x", new byte[] {0, (byte) 0xFF});
        more.put("u", AN_UUID);
        more.put("s", "é");
        return Stream.of(
                Arguments.of("f900", Envelope.of(null)),
                Arguments.of("f90100ff", Envelope.of(new byte[] {0, (byte) 0xFF})),
                Arguments.of("f902" + "6869", Envelope.of("hi")),
                Arguments.of("f902" + "c3a9", Envelope.of("é")),
                Arguments.of("f903" + "05" + "00000102", Envelope.of(258)),
                Arguments.of("f903" + "06" + "fffffffffffffffe", Envelope.of(-2L)),
                Arguments.of("f903" + "0a" + "312e3530", Envelope.of(new BigDecimal("1.50"))),
                Arguments.of("f904" + "01", Envelope.of(true)),
                Arguments.of(
                        "f912" + "26" // fields of 38 bytes
                                + "01" + "0a" + "746578742f706c61696e" // text/plain
                                + "02" + "07" + "01" + "6e" + "05" + "0000002a"
                                + "02" + "0f" + "01" + "74" + "0b" + "0000000000000001" + "00000005"
                                + "6869",
                        Envelope.of("hi", "text/plain", headers)),
                Arguments.of(
                        "f910" + "65" // fields of 101 bytes
                                + "0204" + "0162" + "02" + "01"
                                + "020b" + "016c" + "06" + "ffffffffffffffff"
                                + "0207" + "0166" + "07" + "3f800000"
                                + "020b" + "0164" + "08" + "c000000000000000"
                                + "0205" + "026938" + "03" + "80"
                                + "0207" + "03693136" + "04" + "0102"
                                + "0207" + "0169" + "09" + "2d313233"
                                + "0205" + "0178" + "0c" + "00ff"
                                + "0213" + "0175" + "0d" + "00112233445566778899aabbccddeeff"
                                + "0205" + "0173" + "01" + "c3a9",
                        Envelope.of(null, null, more)),
                Arguments.of(
                        "f912" + "25" // fields of 37 bytes
                                + "0204" + "0161" + "02" + "01"
                                + "03" + "08" + "000000000036ee80" // an hour
                                + "81" + "08" + "00000000000003e8" // a second
                                + "82" + "09" + HexFormat.of().formatHex("unchecked".getBytes(StandardCharsets.UTF_8))
                                + "6869",
                        Envelope.of(
                                "hi",
                                null,
                                Map.of("a", true),
                                new Settings(Duration.ofHours(1), Duration.ofSeconds(1), "unchecked"))),
                Arguments.of(
                        "f911" + "cd01" // fields of 205 bytes: the length takes two
                                + "01" + "ca01" + "61".repeat(202)
                                + "07",
                        Envelope.of(new byte[] {7}, "a".repeat(202), Map.of())));
    }

    @ParameterizedTest
    @MethodSource("golden")
    void the_bytes_are_those_of_the_format(String hex, Envelope envelope) {
        assertThat(HexFormat.of().formatHex(envelope.encode())).isEqualTo(hex);
        assertThat(Envelope.decode(HexFormat.of().parseHex(hex))).isEqualTo(envelope);
        assertThat(envelope.size()).isEqualTo(hex.length() / 2);
    }

    @Test
    void a_text_without_headers_costs_two_bytes() {
        assertThat(Envelope.of("x".repeat(200)).encode()).hasSize(202);
    }

    @Test
    void optional_fields_that_are_unknown_are_skipped() {
        Envelope read = decode("f912" + "0d" + "0402abcd" + "7f00" + "0205" + "0161" + "01" + "6262" + "6869");

        assertThat(read).isEqualTo(Envelope.of("hi", null, Map.of("a", "bb")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                 | 0 | it ends before the version
                    7b7d               | 0 | it starts with 0x7b
                    aced0005           | 0 | it starts with 0xac
                    fa02               | 0 | version 2 is unknown, this reader knows version 1
                    f802               | 0 | version 0 is unknown
                    f9                 | 1 | it ends before the body type
                    f905               | 1 | unknown body type 5
                    f90f               | 1 | unknown body type 15
                    f922               | 1 | unknown flags 0x22
                    f982               | 1 | unknown flags 0x82
                    f90000             | 2 | a null body must have 0 bytes and has 1
                    f904               | 2 | a boolean must have 1 bytes and has 0
                    f90402             | 2 | a boolean is 0 or 1 and not 2
                    f9040000           | 2 | a boolean must have 1 bytes and has 2
                    f902c3             | 2 | the text is not well-formed UTF-8
                    f90261c080         | 3 | the text is not well-formed UTF-8
                    f902eda080         | 2 | the text is not well-formed UTF-8
                    f90261f4908080     | 3 | the text is not well-formed UTF-8
                    f903               | 2 | it ends before a value's type
                    f9030168           | 2 | value type 1 is not that of a number
                    f9030201           | 2 | value type 2 is not that of a number
                    f90300             | 2 | unknown value type 0
                    f9030e             | 2 | unknown value type 14
                    f90305000001       | 3 | a 32-bit integer must have 4 bytes and has 3
                    f9030500000001ff   | 3 | a 32-bit integer must have 4 bytes and has 5
                    f90309             | 3 | a number is not written as
                    f903092b31         | 3 | a number is not written as
                    f90309d9a1         | 3 | a number is not written as
                    f9030a2e35         | 3 | a number is not written as
                    f9030a4e614e       | 3 | a number is not written as
                    f9030a314539393939393939393939393939 | 3 | a decimal's exponent is out of range
                    f9030a31453939393939 | 3 | a decimal's scale is -99999 and above 10000
                    f91080             | 3 | it ends before the length of the fields
                    f91005             | 2 | the fields should have 5 bytes, but 0 are left
                    f9108000           | 2 | the length of the fields is not in the fewest bytes possible
                    f910ffffffff07     | 2 | the fields should have 2147483647 bytes, but 0 are left
                    f910ffffffff08     | 2 | the length of the fields is above 2147483647
                    f910ffffffffff     | 2 | the length of the fields is above 2147483647
                    f9100101           | 4 | it ends before the length of a field
                    f91002010161       | 4 | a field should have 1 bytes, but 0 are left
                    f910028000         | 3 | field 0x80 is unknown and must not be ignored
                    f910028300         | 3 | field 0x83 is unknown and must not be ignored
                    f910028400         | 3 | field 0x84 is unknown and must not be ignored
                    f91005830367726f   | 3 | field 0x83 is unknown and must not be ignored
                    f910020300         | 5 | a duration must have 8 bytes and has 0
                    f91009030700000000000001 | 5 | a duration must have 8 bytes and has 7
                    f9100a03080000000000000000 | 5 | a duration is 0 milliseconds and not 1 or more
                    f9100a0308ffffffffffffffff | 5 | a duration is -1 milliseconds and not 1 or more
                    f9100a81088000000000000000 | 5 | a duration is -9223372036854775808 milliseconds
                    f9100381017f       | 5 | a duration must have 8 bytes and has 1
                    f910038201c3       | 5 | the text is not well-formed UTF-8
                    f910140308000000000000000103080000000000000001 | 13 | a second deduplication period
                    f910148108000000000000000181080000000000000001 | 13 | a second time to live
                    f9100482008200     | 5 | a second retry policy
                    f91002ff00         | 3 | field 0xff is unknown and must not be ignored
                    f9100401000100     | 5 | a second content type
                    f9100a020301610102030161010000 | 8 | a second header of the same name
                    f910020200         | 5 | it ends before the length of a header's name
                    f91004020201616161 | 7 | it ends before a value's type
                    f9100402020561     | 5 | a header's name should have 5 bytes, but 1 are left
                    f910070205016102026161 | 8 | a boolean must have 1 bytes and has 2
                    f91011020f01610b0000000000000000ffffffff | 16 | an instant's nanoseconds are above 999999999
                    f91011020f01610b7fffffffffffffff00000000 | 8 | an instant is out of range
                    """)
    void what_is_no_envelope_is_refused_with_the_place(String hex, int offset, String problem) {
        assertThatThrownBy(() -> decode(hex))
                .isInstanceOfSatisfying(
                        EnvelopeFormatException.class,
                        e -> assertThat(e.getOffset()).as(e.getMessage()).isEqualTo(offset))
                .hasMessageContaining(problem)
                .hasMessageEndingWith("(at byte " + offset + ")");
    }

    @Test
    void numbers_that_take_long_to_read_are_refused() {
        byte[] digits = new byte[5_000_000];
        Arrays.fill(digits, (byte) '9');
        digits[0] = (byte) 0xF9;
        digits[1] = 3;
        digits[2] = 9;

        assertThatThrownBy(() -> Envelope.decode(digits))
                .isInstanceOf(EnvelopeFormatException.class)
                .hasMessageContaining("a number has 4999997 characters, more than 4096");
    }

    @Test
    void an_envelope_cut_at_any_length_is_an_error_or_a_shorter_body() {
        Envelope whole = everything();
        byte[] bytes = whole.encode();
        int bodyStart = bytes.length - whole.bodyBytes().length;

        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            if (length < bodyStart) {
                assertThatThrownBy(() -> Envelope.decode(cut))
                        .as("%d bytes", length)
                        .isInstanceOf(EnvelopeFormatException.class);
            } else {
                Envelope read = Envelope.decode(cut);
                assertThat(read)
                        .isEqualTo(Envelope.of(read.body(), whole.contentType(), whole.headers(), whole.settings()));
                assertThat((String) whole.body()).startsWith((String) read.body());
            }
        }
    }

    @Test
    void random_damage_is_an_envelope_or_a_format_error() {
        Random random = new Random(20260301);
        List<byte[]> seeds = Stream.concat(Stream.of(everything()), golden().map(a -> (Envelope) a.get()[1]))
                .map(Envelope::encode)
                .toList();
        int read = 0;
        int refused = 0;
        int inputs = RandomTests.amount("fuzz.inputs", 50_000, 200_000);
        for (int i = 0; i < inputs; i++) {
            byte[] seed = seeds.get(random.nextInt(seeds.size()));
            byte[] bytes = Arrays.copyOf(seed, Math.max(0, seed.length + random.nextInt(5) - 2));
            for (int changes = random.nextInt(4); changes > 0 && bytes.length > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            if (random.nextInt(10) == 0) {
                random.nextBytes(bytes);
                if (bytes.length > 1) {
                    bytes[0] = (byte) 0xF9;
                    bytes[1] &= 0x17;
                }
            }
            try {
                Envelope envelope = Envelope.decode(bytes);
                // An envelope that can be read can be written, and means the same then.
                assertThat(Envelope.decode(envelope.encode())).isEqualTo(envelope);
                read++;
            } catch (EnvelopeFormatException e) {
                assertThat(e.getOffset()).isBetween(0, bytes.length);
                refused++;
            }
        }
        assertThat(read).isGreaterThan(1_000);
        assertThat(refused).isGreaterThan(1_000);
    }

    @Test
    void a_length_that_is_not_there_takes_no_memory() {
        byte[] bytes = everything().encode();
        byte[] huge = {(byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x07};
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        decodeQuietly(bytes);

        for (int at = 0; at + huge.length < bytes.length; at++) {
            byte[] hostile = bytes.clone();
            System.arraycopy(huge, 0, hostile, at, huge.length);
            long before = threads.getCurrentThreadAllocatedBytes();
            decodeQuietly(hostile);
            long taken = threads.getCurrentThreadAllocatedBytes() - before;
            assertThat(taken).as("2147483647 at byte %d", at).isLessThan(1_000_000);
        }
    }

    private static void decodeQuietly(byte[] bytes) {
        try {
            Envelope.decode(bytes);
        } catch (EnvelopeFormatException expected) {
            // only its cost is of interest
        }
    }

    @Test
    void a_body_of_another_type_is_refused() {
        for (Object body : List.of(List.of(), new AtomicLong(1), 'c', Instant.EPOCH, new int[0])) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Envelope.of(body))
                    .withMessageContaining("the body cannot be stored: it is a "
                            + body.getClass().getTypeName());
        }
    }

    @Test
    void a_header_of_another_type_is_refused_by_name() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Envelope.of("x", null, Map.of("order", List.of())))
                .withMessageContaining("header 'order' cannot be stored: it is a java.util.");
        Map<String, Object> withNull = new LinkedHashMap<>();
        withNull.put("order", null);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Envelope.of("x", null, withNull))
                .withMessageContaining("header 'order' cannot be stored: it is null");
    }

    @Test
    void half_a_surrogate_pair_is_refused() {
        for (String text : List.of("a\uD83D", "a\uDE00", "a\uD83Db", "a\uDE00\uD83D")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Envelope.of(text))
                    .withMessageContaining("the body cannot be stored: it has half of a surrogate pair at position 1");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Envelope.of("x", null, Map.of("h", text)))
                    .withMessageContaining("header 'h'");
        }
    }

    @Test
    void numbers_that_could_not_be_read_are_refused() {
        for (Number number : List.of(
                BigInteger.TEN.pow(4096),
                BigInteger.TWO.pow(100_000_000),
                new BigDecimal("1E+10001"),
                new BigDecimal("1E-10001"),
                new BigDecimal(BigInteger.TEN.pow(5000), 10))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Envelope.of(number))
                    .withMessageContaining("the body is a number too long to be stored");
        }
    }

    @Test
    void its_text_shows_no_data() {
        assertThat(Envelope.of("secret", "secret", Map.of("secret", "secret")))
                .hasToString("Envelope[TEXT of 6 bytes, 1 headers]");
    }

    private static Envelope everything() {
        Map<String, Object> headers = new LinkedHashMap<>();
        headerValues()
                .filter(value -> value.toString().length() < 100)
                .forEach(value -> headers.put("header-" + headers.size(), value));
        headers.put("bytes", new byte[] {1, 2, 3});
        Settings settings = new Settings(Duration.ofHours(1), Duration.ofMinutes(5), "maximumRedeliveries=5");
        return Envelope.of("some text", "text/plain", headers, settings);
    }

    private static Envelope decode(String hex) {
        return Envelope.decode(HexFormat.of().parseHex(hex == null ? "" : hex));
    }
}
