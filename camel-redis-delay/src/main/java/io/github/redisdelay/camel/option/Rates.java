// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import io.github.redisdelay.queue.QueueLimits.Rate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads rates from options: so many deliveries in a time, such as {@code 100/1s}, with a burst such as {@code 100/1s:5}. */
public final class Rates {

    private static final Pattern RATE = Pattern.compile("(\\d{1,9})/([^:]+?)(?::(\\d{1,9}))?");

    private Rates() {}

    /**
     * @param what the option for the error, such as {@code option 'rate'}
     * @return null if there is none
     * @throws IllegalArgumentException for anything that is no rate
     */
    public static Rate of(String what, String text) {
        if (text == null) {
            return null;
        }
        Matcher parts = RATE.matcher(text);
        try {
            if (parts.matches()) {
                return Rate.of(
                        Integer.parseInt(parts.group(1)),
                        Durations.of(what, parts.group(2)),
                        parts.group(3) == null ? 1 : Integer.parseInt(parts.group(3)));
            }
            throw new IllegalArgumentException("it is none");
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    what + " is '" + OptionValues.shown(text) + "': write so many deliveries in a time, from 1/1d to"
                            + " 10000/1s, such as 100/1s; 100/1s:5 if up to 5 may begin at once (1 to 1000). Leave it"
                            + " out for no limit",
                    e);
        }
    }
}
