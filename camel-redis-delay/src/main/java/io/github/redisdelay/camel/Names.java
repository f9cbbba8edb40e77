// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Reads constants by their names from options and headers, with errors that say what would be right. */
final class Names {

    private static final int MAX_NUMBER_LENGTH = 100;

    private Names() {}

    /**
     * The constant with this name, in any letter case.
     *
     * @param what the option or header, for the error
     * @throws IllegalArgumentException if there is none
     */
    static <E extends Enum<E>> E constant(Class<E> type, String what, Object value) {
        String name = String.valueOf(value).strip();
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(name)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(what + " '" + shown(name) + "' is unknown: use "
                + Arrays.stream(type.getEnumConstants()).map(Names::lower).collect(Collectors.joining(", ")));
    }

    /** A value as it can be shown in an error: not too long, without control characters. */
    static String shown(Object value) {
        String text = String.valueOf(value);
        String shown = text.length() <= 100 ? text : text.substring(0, 100) + "…";
        return shown.replaceAll("[\\p{Cc}\\x{2028}\\x{2029}]", "?");
    }

    /**
     * A whole number that an option or header gives as a number or as text.
     *
     * @throws ArithmeticException if it is not whole, or out of the range of an int
     * @throws NumberFormatException if it is no number
     */
    static int wholeNumber(Object value) {
        String text = value.toString().strip();
        if (text.length() > MAX_NUMBER_LENGTH) {
            // To read it would cost the square of its length.
            throw new NumberFormatException("too long");
        }
        return new BigDecimal(text).intValueExact();
    }

    /** A constant's name as it is written in options and headers. */
    static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
