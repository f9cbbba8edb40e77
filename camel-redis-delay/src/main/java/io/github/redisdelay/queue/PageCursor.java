// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.Base64;

/**
 * Behind which message a page begins: its score, in microseconds, and the bytes of its id (which may be no text), as text
 * {@code <micros>:<id in Base64 for URLs>}.
 *
 * @param id empty for the very first page
 */
record PageCursor(long micros, byte[] id) {

    static final PageCursor START = new PageCursor(0, new byte[0]);

    static PageCursor parse(String text) {
        int colon = text.indexOf(':');
        try {
            long micros = Long.parseLong(text, 0, Math.max(0, colon), 10);
            if (micros >= 0 && micros <= DueTime.MAX_MICROS) {
                return new PageCursor(micros, Base64.getUrlDecoder().decode(text.substring(colon + 1)));
            }
        } catch (IllegalArgumentException e) {
            // told below
        }
        String shown = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        throw new IllegalArgumentException("cursor '" + shown.replaceAll("\\p{Cc}", "?")
                + "' is none that a list has answered: give the one of the page before, or none for the first page");
    }

    static String text(long micros, byte[] id) {
        return micros + ":" + Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }
}
