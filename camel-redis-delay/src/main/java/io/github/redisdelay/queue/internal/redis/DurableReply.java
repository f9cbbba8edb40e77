// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

/**
 * The answer to a call that may have to become durable.
 *
 * @param reply the script's answer
 * @param unmet the missing durability; null if the call is as safe as was asked for
 */
public record DurableReply(Object reply, UnmetDurability unmet) {}
