// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

/** Messages to be scheduled, one after the other. Asked by one thread. */
@FunctionalInterface
public interface Source {

    /** The next message, or null if there is none any more. May wait. */
    Message next();
}
