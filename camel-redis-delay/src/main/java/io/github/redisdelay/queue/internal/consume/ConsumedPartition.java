// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.CallGate;

/**
 * A queue without partitions, or one partition, as a consumer needs it.
 *
 * @param settlements finishes its deliveries
 * @param gate lets the consumer's calls pass
 */
public record ConsumedPartition(QueueAddress address, DeliverySettler settlements, CallGate gate) {}
