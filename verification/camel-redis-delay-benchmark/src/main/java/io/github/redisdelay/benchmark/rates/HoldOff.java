// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Subject;

/**
 * A time in the future by which messages have to be scheduled that are due from then on. How long that takes is
 * guessed; where it was too little, all is done again with more.
 */
public final class HoldOff {

    private static final int TRIES = 5;

    private HoldOff() {}

    /** A try with a hold-off of some length. */
    public interface Attempt<T> {

        /**
         * Schedules and goes on.
         *
         * @param millis how long the hold-off is
         */
        T with(long millis) throws Exception;
    }

    /** The hold-off was over before all messages were scheduled. */
    @SuppressWarnings("serial")
    public static final class TooShort extends Exception {
        TooShort(String message) {
            super(message);
        }
    }

    /** Tries with a growing hold-off. Each attempt needs a queue of its own. */
    public static <T> T attempt(int messages, String subject, Attempt<T> attempt) throws Exception {
        int perSecond = subject.equals(Subject.RDELAYEDQUEUE) ? 6_000 : 30_000;
        long millis = 1500 + messages * 1000L / perSecond;
        for (int i = 1; ; i++) {
            try {
                return attempt.with(millis);
            } catch (TooShort e) {
                if (i == TRIES) {
                    throw e;
                }
                System.out.println(e.getMessage() + "; again, with a longer hold-off");
                millis *= 2;
            }
        }
    }

    /** @throws TooShort if this time is over */
    public static void check(long firstMillis, String subject, int messages) throws TooShort {
        long late = System.currentTimeMillis() - firstMillis;
        if (late > 0) {
            throw new TooShort(subject + " needed " + late + " ms too long to schedule " + messages
                    + " messages and start a consumer");
        }
    }
}
