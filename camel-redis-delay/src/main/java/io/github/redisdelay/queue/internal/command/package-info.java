// SPDX-License-Identifier: Apache-2.0
/**
 * One queue, or one partition of a queue. {@link io.github.redisdelay.queue.internal.command.RedisDelayQueue} makes a request of each
 * call; each command that changes something has a class that makes the script's arguments, reads its answer and says what may
 * be sent again after a failover. {@code BulkChange} goes through all waiting messages (promote, redrive, purge without ids), and
 * {@link io.github.redisdelay.queue.internal.command.RepairScan} is the operation {@code check}. Nothing here holds state or knows of
 * other partitions.
 */
package io.github.redisdelay.queue.internal.command;
