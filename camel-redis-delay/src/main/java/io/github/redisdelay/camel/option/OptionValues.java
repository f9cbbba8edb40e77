// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Values of options and headers: constants by name and whole numbers, with errors that say what would be right. */
public final class OptionValues {

    private static final int MAX_NUMBER_LENGTH = 100;

    private OptionValues() {}

    /**
     * The constant with this name, in any letter case.
     *
     * @param what the option or header, for the error
     * @throws IllegalArgumentException if there is none
     */
    public static <E extends Enum<E>> E constant(Class<E> type, String what, Object value) {
        String name = String.valueOf(value).strip();
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(name)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(what + " '" + shown(name) + "' is unknown: use "
                + Arrays.stream(type.getEnumConstants())
                        .map(OptionValues::lower)
                        .collect(Collectors.joining(", ")));
    }

    /** A value for an error: not too long, without control characters. */
    public static String shown(Object value) {
        String text = String.valueOf(value);
        String shown = text.length() <= 100 ? text : text.substring(0, 100) + "…";
        return shown.replaceAll("[\\p{Cc}\\x{2028}\\x{2029}]", "?");
    }

    /**
     * A whole number within bounds that an option or header gives as a number or as text.
     *
     * @param what the option or header, for the error
     * @param right the bounds in words, such as {@code from 0 to 9}
     * @throws IllegalArgumentException for anything else
     */
    public static int wholeNumber(String what, Object value, int least, int most, String right) {
        try {
            int number = number(value).intValueExact();
            if (number >= least && number <= most) {
                return number;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            // The error follows.
        }
        throw new IllegalArgumentException(what + " is '" + shown(value) + "': it must be " + right);
    }

    /**
     * Reads a number.
     *
     * @throws NumberFormatException if it is none, or longer than anything sensible: that would cost the square of its length
     */
    static BigDecimal number(Object value) {
        if (value instanceof Long whole) {
            return BigDecimal.valueOf(whole);
        }
        String text = value.toString().strip();
        return new BigDecimal(text.length() > MAX_NUMBER_LENGTH ? "" : text);
    }

    /** Checks that one of two options or headers at most has a value. */
    public static void checkOne(String name, Object value, String otherName, Object other) {
        if (value != null && other != null) {
            throw new IllegalArgumentException(name + " (" + shown(value) + ") and " + otherName + " (" + shown(other)
                    + ") are both set: set one of them");
        }
    }

    /**
     * Checks that the number of an option is within bounds.
     *
     * @param right the bounds in words, such as {@code from 0 to 9}
     * @throws IllegalArgumentException naming the option, its value and the bounds
     */
    public static void check(String option, long value, long least, long most, String right) {
        if (value < least || value > most) {
            throw new IllegalArgumentException("option '" + option + "' is " + value + ": it must be " + right);
        }
    }

    /** A constant's name as it is written in options and headers. */
    public static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
