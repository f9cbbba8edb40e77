// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A client works with another number of partitions than the queue has. Nothing was changed: it would look for messages, or leave
 * them, where the others do not look.
 */
public class PartitionMismatchException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final int partitions;

    /** A client that would use the queue was told. */
    PartitionMismatchException(String queue, int partitions, int wanted, String use) {
        super(
                "queue '" + queue + "' has " + count(partitions) + ", and option 'partitions' is " + wanted + ": "
                        + advice(partitions) + (use.isEmpty() ? "" : ". Now it has " + use),
                null);
        this.partitions = partitions;
    }

    /** A script has refused a call. */
    PartitionMismatchException(String queue, int partitions, Throwable cause) {
        super(
                "queue '" + queue + "' has " + count(partitions) + ", and this client works with another number of them"
                        + " (option 'partitions'); nothing was changed: " + advice(partitions),
                cause);
        this.partitions = partitions;
    }

    private static String count(int partitions) {
        return partitions == 1 ? "1 partition" : partitions + " partitions";
    }

    private static String advice(int partitions) {
        return "set the option to " + partitions
                + ", or take another queue name. The number changes only while the queue"
                + " is empty, dead letters and remembered ids included, and has no consumer: then the first client that"
                + " starts with another number sets it";
    }

    /** How many partitions the queue has. */
    public int getPartitions() {
        return partitions;
    }
}
