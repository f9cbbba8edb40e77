// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import java.util.OptionalDouble;

/**
 * A target for a measured value.
 *
 * @param text what is asked for
 * @param measured the value; empty if it was not measured in this run
 * @param unit behind the value, such as {@code ms} or {@code ×}; may be empty
 * @param atLeast whether the limit is the smallest value that meets it; otherwise the largest
 */
record Target(String text, OptionalDouble measured, String unit, double limit, boolean atLeast) {

    static Target atLeast(double limit, String unit, String text, OptionalDouble measured) {
        return new Target(text, measured, unit, limit, true);
    }

    static Target atMost(double limit, String unit, String text, OptionalDouble measured) {
        return new Target(text, measured, unit, limit, false);
    }

    /** The limit as people read it, such as {@code ≥ 4 ×}. */
    String limitText() {
        return (atLeast ? "≥ " : "≤ ") + value(limit);
    }

    String measuredText() {
        return measured.isPresent() ? value(measured.getAsDouble()) : "not in this run";
    }

    private String value(double number) {
        return (Numbers.text(number) + " " + unit).strip();
    }

    String verdict() {
        if (measured.isEmpty()) {
            return "–";
        }
        double value = measured.getAsDouble();
        return (atLeast ? value >= limit : value <= limit) ? "met" : "**missed**";
    }
}
