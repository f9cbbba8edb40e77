// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.api.FlattenedJson;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;

/**
 * Records as JSON: each component is a member of the same name. Times are ISO text with six digits behind the point.
 */
final class Json {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private Json() {}

    static String text(Object value) {
        return Jsoner.serialize(of(value));
    }

    private static Object of(Object value) {
        if (value == null || value instanceof String || value instanceof Number || value instanceof Boolean) {
            return value;
        }
        if (value instanceof Instant time) {
            return TIME.format(time);
        }
        if (value instanceof long[] numbers) {
            return Arrays.stream(numbers).boxed().toList();
        }
        if (value instanceof Collection<?> many) {
            return many.stream()
                    .map(Json::of)
                    .collect(java.util.stream.Collectors.toCollection(java.util.ArrayList::new));
        }
        JsonObject json = new JsonObject();
        if (value instanceof FlattenedJson both) {
            json.putAll((JsonObject) of(both.first()));
            json.putAll((JsonObject) of(both.second()));
            return json;
        }
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, member) -> json.put((String) name, of(member)));
            return json;
        }
        if (!value.getClass().isRecord()) {
            throw new IllegalArgumentException("no JSON is known for " + value.getClass());
        }
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            json.put(component.getName(), of(read(value, component)));
        }
        return json;
    }

    private static Object read(Object value, RecordComponent component) {
        try {
            return component.getAccessor().invoke(value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("component " + component + " cannot be read", e);
        }
    }
}
