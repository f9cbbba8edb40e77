// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.testkit.GoldenFile;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The members of the JSON API's answers. See {@link GoldenFile}. */
class GoldenJsonTest {

    private final Map<String, String> records = new TreeMap<>();

    @Test
    void should_answer_with_these_members() {
        for (Method method : ConsoleApi.class.getMethods()) {
            if (method.getDeclaringClass() == ConsoleApi.class) {
                describe(method.getGenericReturnType());
            }
        }
        // One object of both, see FlattenedJson.
        describe(QueueViews.Row.class);
        describe(QueueViews.Details.class);
        describe(ActionResult.class);
        List<String> lines = new TreeSet<>(records.values()).stream().toList();
        GoldenFile.assertSame("json.txt", lines);
    }

    /** Adds a record, and those in it. */
    private void describe(Type type) {
        if (type instanceof ParameterizedType generic) {
            Arrays.stream(generic.getActualTypeArguments()).forEach(this::describe);
        } else if (type instanceof Class<?> plain
                && plain.isRecord()
                && plain.getName().startsWith("io.github.redisdelay.console.")
                && records.putIfAbsent(plain.getName(), "") == null) {
            String name = plain.getName().replaceAll(".*\\.", "").replace('$', '.');
            StringBuilder members = new StringBuilder(name).append(':');
            for (RecordComponent component : plain.getRecordComponents()) {
                members.append("\n  ")
                        .append(component.getName())
                        .append(' ')
                        .append(shortName(component.getGenericType()));
            }
            records.put(plain.getName(), members.toString());
            for (RecordComponent component : plain.getRecordComponents()) {
                describe(component.getGenericType());
            }
        }
    }

    private static String shortName(Type type) {
        return type.getTypeName().replaceAll("\\w+\\.(?=\\w)", "").replace('$', '.');
    }
}
