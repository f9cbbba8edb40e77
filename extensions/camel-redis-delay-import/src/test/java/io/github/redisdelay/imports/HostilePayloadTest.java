// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.testkit.Fuzz;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever a payload is, a codec makes a value of it or refuses it: no other error, no class, no memory that the
 * payload is not worth.
 */
class HostilePayloadTest {

    /**
     * The most memory for each byte: a text has two bytes for each character, is built, copied, and encoded for its
     * check.
     */
    private static final int FACTOR = 30;

    /** For an exception and its stack trace, twice. */
    private static final long ANYWAY = 100_000;

    private static final List<byte[]> SHORT = shorter(Payload.ALL);

    private static List<byte[]> shorter(List<Payload> payloads) {
        return payloads.stream()
                .map(Payload::bytes)
                .filter(bytes -> bytes.length < 400)
                .toList();
    }

    /** True if it is converted; nothing but the refusal may be thrown. */
    private static boolean isConverted(ImportConverter codec, byte[] payload) {
        boolean[] converted = {false};
        Fuzz.assertAllocates(ANYWAY + (long) FACTOR * payload.length, () -> codec + " " + Fuzz.hex(payload), () -> {
            try {
                codec.convert(payload);
                converted[0] = true;
            } catch (ImportRefusedException e) {
                assertThat(e).hasMessageStartingWith("codec '");
                assertThat(e.getMessage().length()).isLessThan(600);
                assertThat(e.getMessage().chars()).noneMatch(Character::isISOControl);
            }
        });
        return converted[0];
    }

    @ParameterizedTest
    @EnumSource(names = {"KRYO5", "MARSHALLING", "FST"})
    void should_refuse_what_was_cut_at_any_byte(ImportCodec codec) {
        int cuts = 0;
        Set<String> done = new TreeSet<>(); // releases write the same
        for (Payload payload : Payload.of(codec.optionValue())) {
            byte[] bytes = payload.bytes();
            if (!done.add(HexFormat.of().formatHex(bytes))) {
                continue;
            }
            int step = bytes.length < 400 ? 1 : bytes.length / 7;
            for (int length = 0; length < bytes.length; length += step) {
                assertThat(isConverted(codec, Arrays.copyOf(bytes, length)))
                        .as(payload + " cut to " + length)
                        .isFalse();
                cuts++;
            }
            assertThat(isConverted(codec, Arrays.copyOf(bytes, bytes.length + 1)))
                    .as(payload + " with a byte behind it")
                    .isFalse();
        }
        assertThat(cuts).isGreaterThan(1_000);
    }

    @ParameterizedTest
    @EnumSource
    void should_read_or_refuse_changed_payloads(ImportCodec codec) {
        boolean isStrict = codec != ImportCodec.STRING && codec != ImportCodec.RAW;
        int[] counts = new int[2];
        List<byte[]> own = shorter(Payload.of(codec.optionValue()));
        Fuzz.run("changed payloads, " + codec, 20_000, random -> {
            List<byte[]> some = random.nextBoolean() && !own.isEmpty() ? own : SHORT;
            byte[] bytes = some.get(random.nextInt(some.size()));
            counts[isConverted(codec, Fuzz.mutated(bytes, random)) ? 1 : 0]++;
        });
        assertThat(counts[1]).isPositive();
        assertThat(counts[0] > 0).isEqualTo(isStrict);
    }

    @Test
    void should_guess_the_codec_of_anything() {
        Fuzz.run("guesses", 20_000, random -> {
            byte[] bytes = Fuzz.mutated(SHORT.get(random.nextInt(SHORT.size())), random);
            assertThat(CodecGuess.of(bytes).reason()).isNotEmpty();
        });
        large().forEach(bytes -> assertThat(CodecGuess.of(bytes).reason()).isNotEmpty());
    }

    @ParameterizedTest
    @EnumSource
    void should_read_or_refuse_any_bytes(ImportCodec codec) {
        Fuzz.run("any payloads, " + codec, 10_000, random -> {
            byte[] bytes = Fuzz.bytes(random, 60);
            if (bytes.length > 1 && random.nextBoolean()) {
                bytes[0] = (byte) new int[] {1, 3, 4, 9, 0, 0xFB, 0xFC, '{', '['}[random.nextInt(9)];
            }
            isConverted(codec, bytes);
        });
    }

    @ParameterizedTest
    @EnumSource
    void should_take_no_memory_for_sizes_that_are_only_announced(ImportCodec codec) {
        Stream<String> giants = Stream.of(
                "03ffffffff0f", // Kryo 5: text of 2^31 characters and more
                "03feffffff07",
                "03c08080808080",
                "01005bc2ffffffff07", // byte[] of 2^31 - 2
                "01005bc2ffffffff0f",
                "01006a6176612e6d6174682e426967496e74656765f2ffffffff07",
                "044000ffffff", // River: text, byte[] and the name of an enum
                "04407fffffff",
                "0440ffffffff",
                "04447fffffff21",
                "0444ffffffff21",
                "04040c7fffffff",
                "04040cffffffff",
                "fc81ffffff7f", // FST: text, byte[], BigInteger, the name of a class
                "fc81ffffffff",
                "fb2481ffffff7f",
                "fb2480ffff",
                "000b81ffffff7f",
                "000181ffffff7f",
                "000081ffffff7f");
        giants.map(giant -> HexFormat.of().parseHex(giant + "616161")).forEach(payload -> isConverted(codec, payload));
    }

    private static byte[] repeated(String start, String hex, int size, String end) {
        byte[] unit = HexFormat.of().parseHex(hex);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(size);
        bytes.writeBytes(HexFormat.of().parseHex(start));
        while (bytes.size() < size) {
            bytes.writeBytes(unit);
        }
        bytes.writeBytes(HexFormat.of().parseHex(end));
        return bytes.toByteArray();
    }

    private static Stream<byte[]> large() {
        int size = 1_000_000;
        return Stream.of(
                repeated("", "5b", size, ""), // [[[[
                repeated("", "7b2261223a", size, ""), // {"a":{"a":
                repeated("5b", "22612e42222c", size, "315d"), // ["a.B","a.B",…
                repeated("5b22", "612e", size, "42222c315d"), // ["a.a.a.…B",1]
                repeated("5b22612e423c", "613c", size, "222c315d"), // ["a.B<a<a<…",1]
                repeated("", "31", size, ""), // 1111
                repeated("30312e", "30", size, "31"),
                repeated("03", "61", size, "e1"),
                repeated("0100", "01", size, ""),
                repeated("01006a6176612e6d6174682e426967496e74656765f2c18cbd01", "7f", size, ""),
                repeated("", "0403", size, ""), // a predefined object in River, again and again
                repeated("", "04", size, ""),
                repeated("", "fb00", size, ""),
                repeated("000b81", "01", size, ""),
                repeated("", "00", size, ""),
                repeated("", "ff", size, ""));
    }

    @ParameterizedTest
    @EnumSource
    void should_bound_the_work_for_large_payloads(ImportCodec codec) {
        large().forEach(payload -> isConverted(codec, payload));
    }

    /** Redefines the package, so that what its classes ask for comes here. */
    private static final class CountingLoader extends ClassLoader {

        private static final String OWN = ImportCodec.class.getPackageName();

        private final Set<String> asked = new TreeSet<>(); // one thread

        CountingLoader() {
            super(CountingLoader.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            asked.add(name);
            if (!name.startsWith(OWN)) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defined(name);
        }

        private Class<?> defined(String name) {
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new AssertionError(name, e);
            }
        }
    }

    /** A class that must not be initialised. */
    public static class Gadget {
        static {
            initialised = true;
        }
    }

    private static boolean initialised;

    private static List<byte[]> gadgets() {
        Function<String, byte[]> latin = text -> text.getBytes(StandardCharsets.ISO_8859_1);
        String name = Gadget.class.getName();
        String lastBit = name.substring(0, name.length() - 1) + (char) (name.charAt(name.length() - 1) | 0x80);
        char length = (char) name.length();
        return List.of(
                latin.apply("\1\0" + lastBit),
                latin.apply("\1\0" + lastBit + "\1\2\3"),
                latin.apply("\4\4\11>" + length + name),
                latin.apply("\4\4\12>" + length + name + "\0\0\0\0"),
                latin.apply("\4\4\14\0\0\0" + length + name + "\0"),
                latin.apply("\0\1" + length + name),
                latin.apply("\0\0" + length + name + "\1\2"),
                latin.apply("\u00fa\1" + length + name + "\0"),
                latin.apply("\u00fb\1" + length + name + "\1\0"),
                latin.apply("{\"@class\":\"" + name + "\",\"x\":[\"" + name + "\",{}]}"),
                latin.apply("\u00ac\u00ed\0\5sr\0" + length + name + "\0\0\0\0\0\0\0\1\2\0\0xp"));
    }

    @Test
    void should_load_no_class_that_a_payload_names() throws Exception {
        CountingLoader loader = new CountingLoader();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            Class<?> codecs = loader.loadClass(ImportCodec.class.getName());
            assertThat(codecs).isNotEqualTo(ImportCodec.class);
            Function<byte[], Object> all = payload -> Stream.of(codecs.getEnumConstants())
                    .map(codec -> converted(codec, payload))
                    .toList();
            Payload.ALL.forEach(payload -> all.apply(payload.bytes()));
            assertThat(loader.asked)
                    .contains(Kryo5Reader.class.getName(), RiverReader.class.getName(), FstReader.class.getName())
                    .doesNotContain("java.util.UUID", "java.util.Date", "io.github.redisdelay.migration.Order")
                    .noneMatch(name -> name.startsWith("org.redisson.") || name.startsWith("com.esotericsoftware."));
            loader.asked.clear();
            gadgets().forEach(all::apply);
            assertThat(loader.asked).isEmpty();
            assertThat(initialised).isFalse();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** The message that a codec of the other loader makes of it, or its refusal. */
    private static Object converted(Object codec, byte[] payload) {
        try {
            return codec.getClass().getMethod("convert", byte[].class).invoke(codec, payload);
        } catch (java.lang.reflect.InvocationTargetException e) {
            assertThat(e.getCause().getClass().getName()).isEqualTo(ImportRefusedException.class.getName());
            return e.getCause();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void should_name_the_class_of_each_gadget_in_the_refusal() {
        for (byte[] gadget : gadgets()) {
            CodecGuess guess = CodecGuess.of(gadget);
            if (guess.codec() != ImportCodec.PLAIN_JSON && guess.codec() != ImportCodec.RAW) {
                assertThat(guess.reason()).contains(Gadget.class.getName());
            }
        }
        assertThat(ImportCodec.PLAIN_JSON.convert(gadgets().get(9)).body()).isEqualTo("{\"x\":{}}");
    }
}
