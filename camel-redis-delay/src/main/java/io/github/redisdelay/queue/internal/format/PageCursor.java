// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.DueTime;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The message behind which a page begins: its score and the bytes of its id (which may be no text), as text {@code
 * <list><score>:<id in Base64 for URLs>}. The list is a letter, because a position in one list says nothing about another. The
 * score is a number of microseconds; another one, which only others can have written, is {@code x} and the 16 hexadecimal
 * digits of its double.
 *
 * @param score as Redis reads it
 * @param id empty for the very first page
 */
public record PageCursor(String score, byte[] id) {

    public static final PageCursor START = new PageCursor("-inf", new byte[0]);

    private static final Pattern FORM = Pattern.compile("(.)(?:([0-9]{1,16})|x([0-9a-f]{16})):([-_0-9A-Za-z]*+)");

    /**
     * Reads a cursor.
     *
     * @param list of which list it has to be
     * @throws IllegalArgumentException if it is none of that list
     */
    public static PageCursor parse(char list, String text) {
        Matcher parts = FORM.matcher(text);
        if (parts.matches() && parts.group(1).charAt(0) == list) {
            String score = parts.group(2) == null
                    ? score(Double.longBitsToDouble(HexFormat.fromHexDigitsToLong(parts.group(3))))
                    : score(Long.parseLong(parts.group(2)));
            try {
                if (score != null) {
                    return new PageCursor(score, Base64.getUrlDecoder().decode(parts.group(4)));
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

    public static String text(char list, double score, byte[] id) {
        long micros = (long) score;
        String number = micros == score && micros >= 0 && micros <= DueTime.MAX_MICROS
                ? Long.toString(micros)
                : "x" + HexFormat.of().toHexDigits(Double.doubleToLongBits(score));
        return list + number + ":" + Base64.getUrlEncoder().withoutPadding().encodeToString(id);
    }
}
