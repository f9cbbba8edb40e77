// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

/**
 * Seeds and amounts of tests with random input. By default a test begins with a fixed seed and does little, so two
 * builds of one commit do the same. With {@code -Dthorough} it begins with a random seed and does more.
 */
public final class RandomTests {

    private static final long FIXED_SEED = 20_261_121;
    private static final boolean THOROUGH =
            System.getProperty("thorough", "false").matches("|true");

    private RandomTests() {}

    /** The first seed. @param property a system property that gives one */
    public static long seed(String property) {
        return Long.getLong(property, THOROUGH ? System.nanoTime() & 0xffffffffL : FIXED_SEED);
    }

    /**
     * The amount of work of a test with random input.
     *
     * @param property a system property that gives an amount
     */
    public static int amount(String property, int usual, int thorough) {
        return Integer.getInteger(property, THOROUGH ? thorough : usual);
    }
}
