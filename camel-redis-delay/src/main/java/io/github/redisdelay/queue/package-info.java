// SPDX-License-Identifier: Apache-2.0
/**
 * A delay queue on Redis: bytes in, bytes out, when they are due. Start with {@link
 * io.github.redisdelay.queue.client.DelayQueueClient}.
 *
 * <p>This package is the API of the queue layer: interfaces and values. {@link io.github.redisdelay.queue.DelayQueue} has the
 * operations on single messages, {@link io.github.redisdelay.queue.QueueAdmin} those on all of a queue, {@link io.github.redisdelay.queue.Delivery} is a claimed message with its lease, and {@link
 * io.github.redisdelay.queue.RedeliveryReason} says why a message came again. It knows no other package but that of its errors.
 *
 * <p>The queue layer knows Redisson and nothing of Camel. Its packages, each of which may use those above it:
 *
 * <table>
 * <caption>Packages of the queue layer</caption>
 * <tr><td>{@code queue}, {@code queue.exception}</td><td>the API and its errors</td></tr>
 * <tr><td>{@code queue.envelope}</td><td>the form in which the component stores its messages</td></tr>
 * <tr><td>{@code queue.internal.format}</td><td>arguments, replies and records as bytes</td></tr>
 * <tr><td>{@code queue.internal.redis}</td><td>one script call to Redis</td></tr>
 * <tr><td>{@code queue.internal.request}</td><td>calls that concurrent callers share and that are repeated until answered</td></tr>
 * <tr><td>{@code queue.internal.consume}</td><td>the consumer: wake-ups, claims, leases</td></tr>
 * <tr><td>{@code queue.internal.command}</td><td>one partition of a queue, and a class for each command</td></tr>
 * <tr><td>{@code queue.internal.partition}</td><td>a queue over its partitions, of which most queues have one</td></tr>
 * <tr><td>{@code queue.client}</td><td>the entry, which wires all of them</td></tr>
 * </table>
 *
 * <p>Its scripts are resource files in {@code queue/lua}.
 */
package io.github.redisdelay.queue;
