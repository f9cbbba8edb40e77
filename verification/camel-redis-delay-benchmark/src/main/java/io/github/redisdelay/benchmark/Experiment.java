// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

/** One question that is measured, with all its subjects. */
public interface Experiment {

    /** Its name in {@code raw.csv} and for {@code -Dbenchmark.only}: small letters. */
    String name();

    /**
     * Measures. Finds an empty Redis, and leaves behind what it likes.
     *
     * @throws Exception if something could not be measured, or a message was lost or delivered too often: then what is
     *     in {@code figures} is no result
     */
    void run(Environment environment, Figures figures) throws Exception;
}
