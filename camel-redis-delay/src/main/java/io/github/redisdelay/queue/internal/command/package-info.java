// SPDX-License-Identifier: Apache-2.0
/**
 * The calls to one partition of a queue, of which most queues have no more than one. {@link
 * io.github.redisdelay.queue.internal.command.Partition} makes a request of each call about a message; each command that changes
 * something has a class that makes the script's arguments and reads its answer. {@link
 * io.github.redisdelay.queue.internal.command.PartitionAdmin} has the calls about all messages: {@code BulkChange} goes through
 * all delayed ones (promote, redrive, cancel without ids), and {@link io.github.redisdelay.queue.internal.command.RepairScan} is
 * the operation {@code check}. Nothing here holds state or knows of other partitions.
 */
package io.github.redisdelay.queue.internal.command;
