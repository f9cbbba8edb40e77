// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Reads constants by their names from options and headers, with errors that say what would be right. */
final class Names {

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
        return shown.replaceAll("\\p{Cntrl}", "?");
    }

    /** A constant's name as it is written in options and headers. */
    static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
