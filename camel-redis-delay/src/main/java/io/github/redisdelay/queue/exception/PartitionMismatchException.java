// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

/**
 * The refusal of a client that works with another number of partitions than the queue has. Nothing was changed. The client
 * would store messages, or look for them, where the other clients do not.
 */
public class PartitionMismatchException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final int partitions;

    /**
     * @param keys the beginning of the queue's keys
     * @param partitions the number of partitions that the queue has
     * @param wanted the number with which the client works
     */
    public PartitionMismatchException(String queue, String keys, int partitions, int wanted, Throwable cause) {
        super(
                "queue '" + queue + "' has " + count(partitions) + ", and option 'partitions' is " + wanted
                        + "; nothing was changed: set the option to " + partitions
                        + ", or take another queue name, or, if the queue is empty and unused, remove its record of"
                        + " the number, the keys " + keys + ":config and " + keys + ":dead:config",
                cause);
        this.partitions = partitions;
    }

    private static String count(int partitions) {
        return partitions == 1 ? "1 partition" : partitions + " partitions";
    }

    /** The number of partitions that the queue has. */
    public int getPartitions() {
        return partitions;
    }
}
