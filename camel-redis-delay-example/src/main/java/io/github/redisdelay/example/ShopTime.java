// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Time as it passes in the shop: faster than outside, so that a day of waiting can be watched.
 *
 * @param speed by what factor, 1 for real time
 */
public record ShopTime(int speed) {

    private static final Pattern DURATION =
            Pattern.compile("(?:(\\d{1,6})d)?(?:(\\d{1,6})h)?(?:(\\d{1,6})m)?(?:(\\d{1,6})s)?(?:(\\d{1,6})ms)?");

    private static final long[] UNIT_MILLIS = {86_400_000, 3_600_000, 60_000, 1_000, 1};

    /**
     * The real duration of something in the shop.
     *
     * @param text such as {@code 15s}, {@code 30m}, {@code 1h30m} or {@code 700ms}
     * @return at least a millisecond, unless the text says 0
     * @throws IllegalArgumentException if it is no such text
     */
    public Duration real(String text) {
        return real(parse(text));
    }

    Duration real(Duration inShop) {
        Duration real = inShop.dividedBy(speed);
        boolean tooShort = !inShop.isZero() && real.toMillis() == 0;
        return tooShort ? Duration.ofMillis(1) : real;
    }

    /** The real durations of steps in the shop, such as {@code 15s,3m,10m}. */
    List<Duration> realSteps(String steps) {
        return Stream.of(steps.split(",")).map(this::real).toList();
    }

    private static Duration parse(String text) {
        Matcher units = DURATION.matcher(text);
        if (text.isEmpty() || !units.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no time span: write 20s, 30m, 1h30m or 2d");
        }
        long millis = 0;
        for (int i = 0; i < UNIT_MILLIS.length; i++) {
            if (units.group(i + 1) != null) {
                millis += Long.parseLong(units.group(i + 1)) * UNIT_MILLIS[i];
            }
        }
        return Duration.ofMillis(millis);
    }

    /** How long it was in the shop, for a line of the log. */
    String inShop(Duration real) {
        Duration inShop = real.multipliedBy(speed);
        return inShop.toHours() > 0
                ? inShop.toHours() + " h"
                : inShop.toMinutes() > 0 ? inShop.toMinutes() + " min" : inShop.toSeconds() + " s";
    }

    /** For a line of the log. */
    @Override
    public String toString() {
        return speed == 1 ? "time passes as usual" : "time passes " + speed + " times as fast: 1h takes " + shown();
    }

    private String shown() {
        long millis = real(Duration.ofHours(1)).toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
