// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.redisson.client.codec.Codec;

/**
 * The process that writes values with the codecs of one Redisson. It uses nothing but the JDK and that Redisson.
 *
 * <p>Argument: the file to write. A line is {@code codec name bytes}; the bytes are in hex, and {@code (6162*300)}
 * stands for 300 times these.
 */
public final class PayloadWriter {

    private static final Map<String, Object> VALUES = new LinkedHashMap<>();

    static {
        texts();
        numbers();
        others();
    }

    private PayloadWriter() {}

    public static void main(String[] args) throws IOException {
        List<String> lines = new ArrayList<>();
        write(lines, "string", "org.redisson.client.codec.StringCodec");
        write(lines, "fst", "org.redisson.codec.FstCodec");
        write(lines, "marshalling", "org.redisson.codec.MarshallingCodec");
        write(lines, "kryo5", "org.redisson.codec.Kryo5Codec");
        write(lines, "kryo5-references", "org.redisson.codec.Kryo5Codec", Set.of(), true);
        write(lines, "json", "org.redisson.codec.JsonJacksonCodec");
        Files.write(Path.of(args[0]), lines);
    }

    private static void write(List<String> lines, String name, String type, Object... settings) {
        try {
            Class<?>[] types = settings.length == 0 ? new Class<?>[0] : new Class<?>[] {Set.class, boolean.class};
            Codec codec = (Codec) Class.forName(type).getConstructor(types).newInstance(settings);
            VALUES.forEach((value, object) -> {
                if (!name.equals("string") || object instanceof String) {
                    write(lines, name + " " + value, codec, object);
                }
            });
        } catch (ReflectiveOperationException | LinkageError e) {
            System.out.println("no codec " + name + " in this Redisson: " + e);
        }
    }

    private static void write(List<String> lines, String start, Codec codec, Object value) {
        try {
            ByteBuf buffer = codec.getValueEncoder().encode(value);
            byte[] bytes = new byte[buffer.readableBytes()];
            buffer.readBytes(bytes);
            buffer.release();
            lines.add(start + " " + hex(bytes));
        } catch (IOException | RuntimeException | LinkageError e) {
            System.out.println("cannot be written: " + start + ": " + e);
        }
    }

    private static void texts() {
        VALUES.put("text-empty", "");
        VALUES.put("text-one", "a");
        VALUES.put("text-two", "ab");
        VALUES.put("text-ascii", "plain");
        VALUES.put("text-json", "{\"id\":\"order-1\"}");
        VALUES.put("text-latin", "café");
        VALUES.put("text-high-latin", "þÿĀ");
        VALUES.put("text-chinese", "订单-42");
        VALUES.put("text-emoji", "\uD83D\uDE00 ok");
        VALUES.put("text-half-pair", "x\uD83D");
        VALUES.put("text-nul", "a\0b\0");
        VALUES.put("text-nul-only", "\0");
        VALUES.put("text-first-control", "\u0001abc");
        VALUES.put("text-controls", "\u0001\u007F\u0080\u07FF\u0800\uFFFF");
        for (int length :
                new int[] {31, 32, 33, 63, 64, 126, 127, 128, 255, 256, 257, 32_767, 32_768, 65_535, 65_536, 70_000}) {
            VALUES.put("text-a*" + length, "a".repeat(length));
        }
        VALUES.put("text-中*100", "中".repeat(100));
        VALUES.put("text-中*256", "中".repeat(256));
        VALUES.put("text-中*70000", "中".repeat(70_000));
        VALUES.put("text-é*300", "é".repeat(300));
    }

    private static void numbers() {
        for (long number : new long[] {
            0,
            1,
            -1,
            63,
            64,
            -64,
            -65,
            125,
            126,
            127,
            128,
            -124,
            -125,
            -126,
            -127,
            -128,
            -129,
            255,
            256,
            32_767,
            32_768,
            -32_768,
            -32_769,
            Integer.MAX_VALUE,
            Integer.MIN_VALUE
        }) {
            VALUES.put("int-" + number, (int) number);
            VALUES.put("long-" + number, number);
        }
        for (long number : new long[] {1L << 31, -(1L << 31) - 1, 1L << 53, Long.MAX_VALUE, Long.MIN_VALUE}) {
            VALUES.put("long-" + number, number);
        }
        for (double number : new double[] {
            0.0, -0.0, 1.5, -1e300, Double.MIN_VALUE, Double.MAX_VALUE, Double.NaN, Double.NEGATIVE_INFINITY
        }) {
            VALUES.put("double-" + number, number);
        }
        for (float number : new float[] {0f, -0f, 1.5f, Float.MIN_VALUE, Float.MAX_VALUE, Float.NaN}) {
            VALUES.put("float-" + number, number);
        }
        for (byte number : new byte[] {0, 1, -1, 127, -128}) {
            VALUES.put("byte-" + number, number);
        }
        for (short number : new short[] {0, 1, -1, 127, 128, 254, 255, 256, Short.MAX_VALUE, Short.MIN_VALUE}) {
            VALUES.put("short-" + number, number);
        }
        for (String number :
                List.of("0", "1", "-1", "10", "1.50", "12345678901234567890.1234567890", "-1E+10", "1E-300")) {
            VALUES.put("decimal-" + number, new BigDecimal(number));
        }
        for (String number : List.of("0", "1", "-1", "10", "12345678901234567890123456789012345678901234567890")) {
            VALUES.put("integer-" + number, new BigInteger(number));
        }
    }

    private static void others() {
        VALUES.put("boolean-true", true);
        VALUES.put("boolean-false", false);
        VALUES.put("char-a", 'a');
        VALUES.put("char-中", '中');
        VALUES.put("null", null);
        for (int length : new int[] {0, 1, 3, 127, 128, 255, 256, 257, 65_535, 65_536, 70_000}) {
            byte[] bytes = new byte[length];
            Arrays.fill(bytes, (byte) 0xAB);
            VALUES.put("bytes-" + length, bytes);
        }
        VALUES.put("refused-uuid", new UUID(1, 2));
        VALUES.put("refused-date", new Date(1_700_000_000_000L));
        VALUES.put("refused-hashmap", new HashMap<>(Map.of("key", "value")));
        VALUES.put("refused-arraylist", new ArrayList<>(List.of("one", "two")));
        VALUES.put("refused-strings", new String[] {"one", "two"});
        VALUES.put("refused-order", new Order());
        VALUES.put("refused-enum", Order.Color.RED);
        IllegalStateException failure = new IllegalStateException("failure");
        failure.setStackTrace(new StackTraceElement[0]); // else it has the lines of this JDK
        VALUES.put("refused-throwable", failure);
    }

    /** Hex, in which what is repeated stands once: a long text is a short line. */
    static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < bytes.length) {
            int unit = 0;
            int times = 0;
            for (int size = 1; size <= 4 && times < 16; size++) {
                unit = size;
                times = repeats(bytes, at, size);
            }
            if (times < 16) {
                out.append(String.format("%02x", bytes[at++]));
            } else {
                StringBuilder one = new StringBuilder();
                for (int i = 0; i < unit; i++) {
                    one.append(String.format("%02x", bytes[at + i]));
                }
                out.append('(').append(one).append('*').append(times).append(')');
                at += unit * times;
            }
        }
        return out.length() == 0 ? "-" : out.toString();
    }

    private static int repeats(byte[] bytes, int at, int size) {
        int times = 1;
        while (at + (times + 1) * size <= bytes.length
                && Arrays.equals(bytes, at, at + size, bytes, at + times * size, at + (times + 1) * size)) {
            times++;
        }
        return times;
    }
}
