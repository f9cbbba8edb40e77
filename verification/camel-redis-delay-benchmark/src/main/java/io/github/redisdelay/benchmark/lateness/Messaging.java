// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

/** One of the systems that are compared: schedules messages, and records those that arrive. */
interface Messaging extends OpenLoop.Sender, AutoCloseable {

    /** Waits until everything that was sent is stored. */
    void awaitStored() throws Exception;
}
