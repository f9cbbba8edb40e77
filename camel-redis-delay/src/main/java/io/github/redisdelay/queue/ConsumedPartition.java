// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A queue without partitions, or one partition, as a consumer needs it.
 *
 * @param settlements finishes its deliveries
 * @param gate lets the consumer's calls pass
 */
record ConsumedPartition(QueueAddress address, Settlements settlements, CallGate gate) {}
