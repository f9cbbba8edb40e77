// SPDX-License-Identifier: Apache-2.0
/**
 * The consumer side of a queue: when to claim, how many, and what is under way.
 *
 * <p>{@link io.github.redisdelay.queue.internal.consume.ConsumerLoop} decides, once for every event. Events come from {@link
 * io.github.redisdelay.queue.internal.consume.WakeupChannel} (a wake-up by Redis), from timers, from the answer of a claim and
 * from the end of a delivery. {@link io.github.redisdelay.queue.internal.consume.RedisClaimCalls} sends a claim until Redis
 * answers. A {@link io.github.redisdelay.queue.internal.consume.ClaimedDelivery} holds the lease of one message, and {@link
 * io.github.redisdelay.queue.internal.consume.LeaseExtender} extends it. {@code InFlightDeliveries} has the slots and begins a
 * poison message alone; {@code Prefetch} has the messages that wait for a slot.
 *
 * <p>It reaches the queue only by {@link io.github.redisdelay.queue.internal.consume.DeliverySettler}, and knows a partition as a
 * number.
 */
package io.github.redisdelay.queue.internal.consume;
