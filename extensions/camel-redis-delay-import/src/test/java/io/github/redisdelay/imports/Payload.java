// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Bytes that a release of Redisson wrote: {@code PayloadsIT} of the module camel-redis-delay-migration writes the files
 * anew.
 *
 * @param codec the option value of the codec that reads them, or {@code kryo5-references}
 * @param name a kind and the value, such as {@code int--1}
 * @param sameText the same text as {@code StringCodec} of that Redisson wrote it; null if it is none
 */
record Payload(String redisson, String codec, String name, byte[] bytes, String sameText) {

    private static final Pattern PART = Pattern.compile("\\((\\w+)\\*(\\d+)\\)|(\\w+)");

    /** All of them, except text with half of a surrogate pair: no message can have it. */
    static final List<Payload> ALL = all();

    private static List<Payload> all() {
        List<Payload> all = new ArrayList<>();
        for (String release : List.of("3.12.5", "3.16.8", "3.20.1", "3.21.1", "3.52.0", "4.7.0")) {
            List<Payload> texts = new ArrayList<>();
            lines(release).forEach(line -> {
                byte[] bytes = bytes(line[2]);
                String text = line[0].equals("string")
                        ? new String(bytes, StandardCharsets.UTF_8)
                        : texts.stream()
                                .filter(known -> known.name.equals(line[1]))
                                .map(Payload::sameText)
                                .findAny()
                                .orElse(null);
                Payload payload = new Payload(release, line[0], line[1], bytes, text);
                (line[0].equals("string") ? texts : all).add(payload);
            });
            all.addAll(texts);
        }
        return List.copyOf(all);
    }

    private static List<String[]> lines(String release) {
        try (InputStream file = Payload.class.getResourceAsStream("redisson-" + release + ".txt")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.split(" "))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(String hex) {
        StringBuilder all = new StringBuilder();
        Matcher part = PART.matcher(hex);
        while (part.find()) {
            all.append(part.group(1) == null ? part.group(3) : part.group(1).repeat(Integer.parseInt(part.group(2))));
        }
        return HexFormat.of().parseHex(all);
    }

    static List<Payload> of(String codec) {
        return ALL.stream().filter(payload -> payload.codec.equals(codec)).toList();
    }

    static Payload of(String codec, String name) {
        return of(codec).stream()
                .filter(payload -> payload.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    boolean isRefused() {
        return name.startsWith("refused-") || name.equals("text-half-pair");
    }

    /** The value that was written, as far as a message can have it. */
    Object value() {
        String kind = name.substring(0, name.contains("-") ? name.indexOf('-') : name.length());
        String value = name.substring(Math.min(kind.length() + 1, name.length()));
        return switch (kind) {
            case "text" -> sameText;
            case "int" -> Integer.valueOf(value);
            case "long" -> Long.valueOf(value);
            case "double" -> Double.valueOf(value);
            case "float" -> Float.valueOf(value);
            case "byte" -> Byte.valueOf(value);
            case "short" -> Short.valueOf(value);
            case "decimal" -> new BigDecimal(value);
            case "integer" -> new BigInteger(value);
            case "boolean" -> Boolean.valueOf(value);
            case "char" -> value;
            case "null" -> null;
            case "bytes" -> {
                byte[] bytes = new byte[Integer.parseInt(value)];
                Arrays.fill(bytes, (byte) 0xAB);
                yield bytes;
            }
            default -> throw new IllegalArgumentException(name);
        };
    }

    @Override
    public String toString() {
        return redisson + " " + codec + " " + name;
    }
}
