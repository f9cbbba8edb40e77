// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.PageStart;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The message behind which a page begins: its score and the bytes of its id (which may be no text), as text {@code
 * <list><n><score>:<id in Base64 for URLs>}. The list is a letter, because a position in one list says nothing about another.
 * With an {@code n} the newest come first. The score is a number of microseconds; another one, which only others can have
 * written, is {@code x} and the 16 hexadecimal digits of its double.
 *
 * @param newest true if the page goes back in time
 * @param score as Redis reads it
 * @param id empty if the page begins with the first of that score, or with its last if the newest come first
 */
public record PageCursor(boolean newest, String score, byte[] id) {

    private static final byte[] NO_ID = {};
    private static final PageCursor FIRST = new PageCursor(false, "-inf", NO_ID);
    private static final PageCursor NEWEST = new PageCursor(true, "inf", NO_ID);

    private static final Pattern FORM = Pattern.compile("(.)(n?)(?:([0-9]{1,16})|x([0-9a-f]{16})):([-_0-9A-Za-z]*+)");

    /**
     * The position where a page begins.
     *
     * @param list which list it is of
     * @throws IllegalArgumentException if it is a cursor of none or another list
     */
    public static PageCursor of(char list, PageStart start) {
        if (start.cursor() != null) {
            return parse(list, start.cursor());
        }
        return start.backwards()
                ? NEWEST
                : start.micros() < 0 ? FIRST : new PageCursor(false, score(start.micros()), NO_ID);
    }

    /**
     * The position behind a page.
     *
     * @param cursor what that page says; null for the beginning
     */
    public static PageCursor of(char list, String cursor) {
        return of(list, PageStart.next(cursor));
    }

    /**
     * Reads a cursor.
     *
     * @param list of which list it has to be
     * @throws IllegalArgumentException if it is none of that list
     */
    public static PageCursor parse(char list, String text) {
        Matcher parts = FORM.matcher(text);
        if (parts.matches() && parts.group(1).charAt(0) == list) {
            String score = parts.group(3) == null
                    ? score(Double.longBitsToDouble(HexFormat.fromHexDigitsToLong(parts.group(4))))
                    : score(Long.parseLong(parts.group(3)));
            try {
                if (score != null) {
                    return new PageCursor(
                            !parts.group(2).isEmpty(),
                            score,
                            Base64.getUrlDecoder().decode(parts.group(5)));
                }
            } catch (IllegalArgumentException e) {
                // told below
            }
        }
        String shown = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        throw new IllegalArgumentException("cursor '" + shown.replaceAll("\\p{Cc}", "?")
                + "' is none that this list has answered: give the one of the page before, or none for the first page");
    }

    private static String score(long micros) {
        return micros <= DueTime.MAX_MICROS ? Long.toString(micros) : null;
    }

    private static String score(double score) {
        if (Double.isInfinite(score)) {
            return score > 0 ? "inf" : "-inf";
        }
        return Double.isNaN(score) ? null : Double.toString(score);
    }

    public static String text(char list, boolean newest, double score, byte[] id) {
        long micros = (long) score;
        String number = micros == score && micros >= 0 && micros <= DueTime.MAX_MICROS
                ? Long.toString(micros)
                : "x" + HexFormat.of().toHexDigits(Double.doubleToLongBits(score));
        return list + (newest ? "n" : "") + number + ":"
                + Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }
}
