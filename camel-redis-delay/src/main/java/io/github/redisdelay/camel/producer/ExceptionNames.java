// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.option.OptionValues;
import java.util.regex.Pattern;

/** Names of exception classes by which dead letters are chosen: with their package, or the class alone. */
final class ExceptionNames {

    private static final String PART = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*+";

    private static final Pattern NAME = Pattern.compile(PART + "(?:\\." + PART + ")*+");

    private ExceptionNames() {}

    /**
     * A name as it was given, without space around it.
     *
     * @param what names the option or header for the error
     * @throws IllegalArgumentException if no class can have it
     */
    static String check(String what, String name) {
        String stripped = name.strip();
        if (!NAME.matcher(stripped).matches()) {
            throw new IllegalArgumentException(what + " '" + OptionValues.shown(name)
                    + "' is no name of a class: give one such as java.net.ConnectException or ConnectException");
        }
        return stripped;
    }

    /**
     * True if a name means this class, which is named in full. A name without a package means the class of any package.
     */
    static boolean matches(String name, String exception) {
        if (exception == null || !exception.endsWith(name)) {
            return false;
        }
        int before = exception.length() - name.length() - 1;
        return before < 0
                || (name.indexOf('.') < 0 && (exception.charAt(before) == '.' || exception.charAt(before) == '$'));
    }
}
