// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The words that scripts take and answer: the names of constants in small letters, such as {@code cancel-delayed}. */
public final class WireWord {

    private WireWord() {}

    public static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static byte[] bytes(Enum<?> constant) {
        return text(constant).getBytes(StandardCharsets.US_ASCII);
    }
}
