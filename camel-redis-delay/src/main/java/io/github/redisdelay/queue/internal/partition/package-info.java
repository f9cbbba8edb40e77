// SPDX-License-Identifier: Apache-2.0
/**
 * A queue of several partitions, which looks like one. {@link io.github.redisdelay.queue.internal.partition.PartitionHash} says which
 * partition a message is in, and {@link io.github.redisdelay.queue.internal.partition.PartitionCount} agrees with Redis on their
 * number. Nothing below knows that there are partitions, but for consumers, which claim from all of them.
 */
package io.github.redisdelay.queue.internal.partition;
