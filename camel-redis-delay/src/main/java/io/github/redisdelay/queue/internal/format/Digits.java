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
        return of(number, 1);
    }

    /** A number from 0 on as 16 digits, zeros in front; more if it has more. So those of several requests have one length. */
    public static byte[] padded(long number) {
        return of(number, 16);
    }

    private static byte[] of(long number, int least) {
        int length = 0;
        for (long rest = number; rest > 0; rest /= 10) {
            length++;
        }
        byte[] digits = new byte[Math.max(length, least)];
        long rest = number;
        for (int i = digits.length - 1; i >= 0; i--) {
            digits[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return digits;
    }
}
