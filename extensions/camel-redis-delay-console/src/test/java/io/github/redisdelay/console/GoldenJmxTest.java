// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.testkit.GoldenFile;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedOperation;
import org.junit.jupiter.api.Test;

/** The names that operators write. See {@link GoldenFile}. */
class GoldenJmxTest {

    @Test
    void should_have_these_members_in_JMX() {
        GoldenFile.assertSame(
                "jmx.txt",
                Arrays.stream(ManagedQueue.class.getMethods())
                        .flatMap(GoldenJmxTest::member)
                        .sorted()
                        .toList());
    }

    private static Stream<String> member(Method method) {
        if (method.isAnnotationPresent(ManagedAttribute.class)) {
            return Stream.of("attribute " + method.getName().replaceAll("^(get|is)", "") + " "
                    + method.getReturnType().getSimpleName());
        }
        return method.isAnnotationPresent(ManagedOperation.class)
                ? Stream.of("operation " + method.getName() + " "
                        + Arrays.stream(method.getParameterTypes())
                                .map(Class::getSimpleName)
                                .toList()
                        + " " + method.getReturnType().getSimpleName())
                : Stream.empty();
    }
}
