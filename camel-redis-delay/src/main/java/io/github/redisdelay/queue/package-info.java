// SPDX-License-Identifier: Apache-2.0
/**
 * A delay queue on Redis: bytes in, bytes out, when they are due. Knows Redisson and nothing of Camel.
 *
 * <p>Start with {@link io.github.redisdelay.queue.client.DelayQueueClient}.
 */
package io.github.redisdelay.queue;
