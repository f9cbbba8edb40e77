// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The time on the clock and of the processors, from one moment to another. */
public final class Cost {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Environment environment;
    private final long nanos;
    private final double redisSeconds;
    private final double jvmSeconds;

    private Cost(Environment environment) {
        this.environment = environment;
        this.redisSeconds = environment.redisCpuSeconds();
        this.jvmSeconds = jvmSeconds();
        this.nanos = System.nanoTime();
    }

    public static Cost begin(Environment environment) {
        return new Cost(environment);
    }

    private static double jvmSeconds() {
        return SYSTEM.getProcessCpuTime() / 1e9;
    }

    /** The cost until now. */
    public Taken end() {
        long now = System.nanoTime();
        double jvm = jvmSeconds() - jvmSeconds;
        return new Taken((now - nanos) / 1e9, environment.redisCpuSeconds() - redisSeconds, jvm);
    }

    /**
     * The cost of something.
     *
     * @param seconds on the clock
     * @param redisSeconds CPU time of the server
     * @param jvmSeconds CPU time of this JVM, its compiler and its garbage collector included
     */
    public record Taken(double seconds, double redisSeconds, double jvmSeconds) {}
}
