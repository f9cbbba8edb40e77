// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import java.util.Locale;

/** Numbers as text for people: three digits that count, thousands with a space between. */
final class Numbers {

    private Numbers() {}

    static String text(double value) {
        double size = Math.abs(value);
        if (size >= 100) {
            return grouped(Math.round(value));
        }
        if (size == 0) {
            return "0";
        }
        String text = String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.3f", value);
        return text.replaceFirst("\\.?0+$", "");
    }

    /** A whole number, its thousands with a space between. */
    static String grouped(long value) {
        return String.format(Locale.ROOT, "%,d", value).replace(',', ' ');
    }

    /** The median, and behind it the smallest and the largest where there was more than one round. */
    static String text(Spread spread) {
        String median = text(spread.median());
        return spread.rounds() == 1 ? median : median + " (" + text(spread.min()) + " … " + text(spread.max()) + ")";
    }

    /** The number that stands in a parameter, such as 10000 in {@code pending=10000}; NaN if there is none. */
    static double in(String parameter, String name) {
        for (String part : parameter.split(" ")) {
            if (part.startsWith(name + "=")) {
                try {
                    return Double.parseDouble(part.substring(name.length() + 1));
                } catch (NumberFormatException e) {
                    return Double.NaN;
                }
            }
        }
        return Double.NaN;
    }
}
