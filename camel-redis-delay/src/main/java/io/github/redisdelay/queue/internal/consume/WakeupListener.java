// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

/** A consumer or receiver that listens to the wake-ups for one queue or partition. */
interface WakeupListener {

    /** A message is due in this many microseconds. */
    void wakeUp(long waitMicros);

    /** Wake-ups may have been missed. */
    void checkNow();
}
