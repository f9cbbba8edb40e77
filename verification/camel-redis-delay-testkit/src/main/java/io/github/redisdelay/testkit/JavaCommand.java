// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Commands that start a small JVM, for tests that kill it. */
public final class JavaCommand {

    private JavaCommand() {}

    /** The class path of this JVM, that of the tests. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Starts a program with the class path of this JVM. */
    public static List<String> of(Class<?> program, String... arguments) {
        return of(List.of(), classPath(), program, arguments);
    }

    /** Starts a program with a class path of its own. @param options of the JVM, besides those that make it small */
    public static List<String> of(List<String> options, String classPath, Class<?> program, String... arguments) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command =
                new ArrayList<>(List.of(java, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }
}
