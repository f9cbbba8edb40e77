// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;

/**
 * A body that begins with the time at which its message is due, so that lateness needs no other clock than the one of
 * this machine: Redis, the producer and the consumer read the same one.
 */
public final class Stamp {

    private static final int DIGITS = 16;

    private Stamp() {}

    /** The clock that Redis' {@code TIME} reads as well, in microseconds since 1970. */
    public static long nowMicros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** A body of the usual size, its first bytes the time. */
    public static byte[] body(long dueMicros) {
        byte[] body = Environment.body();
        long rest = dueMicros;
        for (int i = DIGITS - 1; i >= 0; i--) {
            body[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return body;
    }

    /** The time in a body. */
    public static long dueMicros(byte[] body) {
        long micros = 0;
        for (byte digit : Arrays.copyOf(body, DIGITS)) {
            micros = 10 * micros + digit - '0';
        }
        return micros;
    }
}
