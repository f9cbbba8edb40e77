// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.util.SplittableRandom;

/**
 * The answers of the partner's server. Most are good, and they are always the same for the same order and try, so that
 * two runs of the example tell the same story.
 */
final class PartnerMood {

    /** The ways in which the server answers. */
    enum Answer {
        OK,
        SERVER_ERROR,
        TOO_MANY_REQUESTS,
        SILENCE,
        FORBIDDEN
    }

    private final long seed;

    PartnerMood(long seed) {
        this.seed = seed;
    }

    /** @param attempt 1 for the first */
    Answer answer(String order, int attempt) {
        int dice = new SplittableRandom(seed + 31L * order.hashCode() + 7_919L * attempt).nextInt(100);
        if (dice < 60) {
            return Answer.OK;
        }
        if (dice < 76) {
            return Answer.SERVER_ERROR;
        }
        return dice < 92 ? Answer.TOO_MANY_REQUESTS : Answer.SILENCE;
    }
}
