// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.nio.charset.StandardCharsets;

/** Numbers as the scripts take them: decimal digits. */
public final class Digits {

    private static final byte[] ZERO = {'0'};

    private Digits() {}

    /** A number as digits. It makes no string on the way, because each request has a number. */
    public static byte[] of(long number) {
        if (number <= 0) {
            // Nobody changes arguments.
            return number == 0 ? ZERO : Long.toString(number).getBytes(StandardCharsets.ISO_8859_1);
        }
        int length = 0;
        for (long rest = number; rest > 0; rest /= 10) {
            length++;
        }
        byte[] digits = new byte[length];
        for (long rest = number; rest > 0; rest /= 10) {
            digits[--length] = (byte) ('0' + rest % 10);
        }
        return digits;
    }
}
