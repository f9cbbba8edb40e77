// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

/** A consumer's or receiver's ear for one partition: it is told of the wake-ups, and says which partition they are for. */
final class WakeupListener implements WakeupChannel.Sleeper {

    private final String base;
    private final int partition;
    private final Woken woken;

    /** A consumer or receiver of one or more partitions, which are numbered from 0. */
    interface Woken {

        /** A message of a partition is due in this many microseconds, or something is worth a look now (0). */
        void wakeUp(int partition, long waitMicros);

        /** Wake-ups for a partition may have been missed. */
        void makePass(int partition);
    }

    /** @param base the base key of the partition, by which wake-ups name it */
    WakeupListener(String base, int partition, Woken woken) {
        this.base = base;
        this.partition = partition;
        this.woken = woken;
    }

    String base() {
        return base;
    }

    @Override
    public void wakeUp(long waitMicros) {
        woken.wakeUp(partition, waitMicros);
    }

    @Override
    public void makePass() {
        woken.makePass(partition);
    }
}
