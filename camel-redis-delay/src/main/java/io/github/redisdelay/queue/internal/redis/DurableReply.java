// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

/**
 * The answer to a call that had to become durable.
 *
 * @param reply what the script answered
 * @param shortfall what is missing, or null if the call is as safe as was asked for
 */
public record DurableReply(Object reply, UnmetDurability shortfall) {}
