// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

/** The main thread of a JVM that a test has started. */
final class ChildMain {

    private ChildMain() {}

    /** If this thread fails, its JVM ends at once, as the test would wait in vain: other threads would keep it alive. */
    static void endsItsJvmWhenItFails() {
        Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
    }
}
