// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import java.util.Arrays;

/**
 * The results of several rounds for one value.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param min the smallest
 * @param max the largest
 * @param rounds how many there were, 1 or more
 */
record Spread(double median, double min, double max, int rounds) {

    /** @throws IllegalArgumentException if there is no value */
    static Spread of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no values: a spread needs one or more");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1], sorted.length);
    }
}
