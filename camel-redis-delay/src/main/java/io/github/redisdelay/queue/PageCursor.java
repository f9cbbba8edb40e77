// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.Base64;

/**
 * Behind which message a page begins: its score, in microseconds, and the bytes of its id (which may be no text), as text
 * {@code <list><micros>:<id in Base64 for URLs>}. The list is a letter, because a position in one list says nothing about another.
 *
 * @param id empty for the very first page
 */
record PageCursor(long micros, byte[] id) {

    static final PageCursor START = new PageCursor(0, new byte[0]);

    /**
     * Reads a cursor.
     *
     * @param list of which list it has to be
     * @throws IllegalArgumentException if it is none of that list
     */
    static PageCursor parse(char list, String text) {
        int colon = text.indexOf(':');
        try {
            long micros = text.startsWith(String.valueOf(list)) ? Long.parseLong(text, 1, Math.max(1, colon), 10) : -1;
            if (micros >= 0 && micros <= DueTime.MAX_MICROS) {
                return new PageCursor(micros, Base64.getUrlDecoder().decode(text.substring(colon + 1)));
            }
        } catch (IllegalArgumentException e) {
            // told below
        }
        String shown = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        throw new IllegalArgumentException("cursor '" + shown.replaceAll("\\p{Cc}", "?")
                + "' is none that this list has answered: give the one of the page before, or none for the first page");
    }

    static String text(char list, long micros, byte[] id) {
        return list + Long.toString(micros) + ":"
                + Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }
}
