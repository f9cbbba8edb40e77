// SPDX-License-Identifier: Apache-2.0
/**
 * A queue over its partitions, of which most queues have one. {@link io.github.redisdelay.queue.internal.partition.Partitions}
 * brings a call to one partition, by an id, or to all of them, and merges their answers. {@link
 * io.github.redisdelay.queue.internal.partition.PartitionHash} says which partition a message is in, and {@link
 * io.github.redisdelay.queue.internal.partition.PartitionCount} agrees with Redis on their number. Nothing below knows that there
 * are partitions, but for consumers, which claim from all of them.
 */
package io.github.redisdelay.queue.internal.partition;
