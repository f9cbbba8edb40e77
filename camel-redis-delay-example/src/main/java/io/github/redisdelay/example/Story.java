// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

/** The names under which the example logs, without the package: the log is to be read as a story. */
final class Story {

    /** The shop as a whole, and what is above all the others. */
    static final String SHOP = "shop";

    static final String ORDERS = "shop.orders";
    static final String NOTIFICATIONS = "shop.notifications";
    static final String REFUNDS = "shop.refunds";
    static final String REMINDERS = "shop.reminders";

    private Story() {}

    /** A number with its noun, and its verb if there is one. */
    static String count(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }
}
