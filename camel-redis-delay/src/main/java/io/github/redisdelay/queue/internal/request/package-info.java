// SPDX-License-Identifier: Apache-2.0
/**
 * The way of requests to Redis. {@link io.github.redisdelay.queue.internal.request.RequestRouter} finds the batcher of a queue,
 * {@link io.github.redisdelay.queue.internal.request.RequestBatcher} puts the requests of concurrent callers into one call,
 * and an {@code InFlightCall} sends that call until Redis answers. A {@link
 * io.github.redisdelay.queue.internal.request.Session} makes a repeated call harmless.
 *
 * <p>It knows requests as arguments and answers as bytes: subclasses of {@link
 * io.github.redisdelay.queue.internal.request.Request} say what they mean. Calls that may be repeated without a session go
 * alone, through {@link io.github.redisdelay.queue.internal.request.UnbatchedCalls}.
 */
package io.github.redisdelay.queue.internal.request;
