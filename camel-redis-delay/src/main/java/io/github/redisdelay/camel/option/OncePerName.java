// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import java.util.HashSet;
import java.util.Set;

/**
 * The names of headers that were logged, each once. Names may come from outside, so only {@value #MAX} are kept and
 * logged. Safe for use by several threads.
 */
public final class OncePerName {

    public static final int MAX = 1000;

    private final Set<String> names = new HashSet<>(); // guarded by this

    /**
     * Notes that a name is logged.
     *
     * @param name the name as it is shown
     * @return the end of the line; null if it must not be logged
     */
    public synchronized String note(String name) {
        if (names.size() == MAX || !names.add(name)) {
            return null;
        }
        return "This is logged once for each header name"
                + (names.size() == MAX ? ", and from now on, after " + MAX + " names, no more" : "");
    }
}
