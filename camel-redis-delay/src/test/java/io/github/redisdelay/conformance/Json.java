// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.queue.ClaimId;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The JSON of the vectors: bytes that are readable text stand as such, all others as {@code hex:} and their digits. */
final class Json {

    private static final String HEX = "hex:";

    private Json() {}

    /** An object of names and values, one behind the other; those without a value are left out. */
    static Map<String, Object> object(Object... members) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            Object value = of(members[i + 1]);
            if (value != null) {
                object.put((String) members[i], value);
            }
        }
        return object;
    }

    static String text(byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            if (text.chars().noneMatch(Character::isISOControl) && !text.startsWith(HEX)) {
                return text;
            }
        } catch (CharacterCodingException e) {
            // No text.
        }
        return HEX + HexFormat.of().formatHex(bytes);
    }

    /** The members of a record, without those that are empty, 0 or false; the name of an enum's value in lower case. */
    static Object of(Object value) {
        if (value instanceof byte[] bytes) {
            return text(bytes);
        } else if (value instanceof Optional<?> optional) {
            return optional.map(Json::of).orElse(null);
        } else if (value instanceof Enum<?> one) {
            return one.name().toLowerCase(Locale.ROOT);
        } else if (value instanceof List<?> list) {
            return list.stream().map(Json::of).toList();
        } else if (value instanceof Record record) {
            return object(Arrays.stream(record.getClass().getRecordComponents())
                    .flatMap(component -> Stream.of(component.getName(), said(component, record)))
                    .toArray());
        } else if (value instanceof ClaimId claim) {
            return text(claim.bytes());
        }
        return value;
    }

    private static Object said(RecordComponent component, Record record) {
        try {
            component.getAccessor().setAccessible(true);
            Object value = component.getAccessor().invoke(record);
            boolean nothing = value instanceof Number number && number.longValue() == 0
                    || Boolean.FALSE.equals(value)
                    || value instanceof byte[] bytes && bytes.length == 0
                    || value instanceof List<?> list && list.isEmpty()
                    || value instanceof String text && text.isEmpty();
            return nothing ? null : value;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static String write(Object value) {
        if (value instanceof Map<?, ?> object) {
            return object.entrySet().stream()
                    .map(member -> quote((String) member.getKey()) + ": " + write(member.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        } else if (value instanceof List<?> list) {
            return list.stream().map(Json::write).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof String text ? quote(text) : String.valueOf(value);
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** The members of an object in lines of their own, as far as it has them. */
    static String lines(Map<String, Object> object, List<List<String>> lines) {
        return lines.stream()
                .map(names -> names.stream()
                        .filter(object::containsKey)
                        .map(name -> quote(name) + ": " + write(object.get(name)))
                        .collect(Collectors.joining(", ")))
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining(",\n ", "{", "}"));
    }
}
