// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The result of a {@linkplain QueueAdmin#check() check} of a queue: what it found and mended. A check whose answer is lost
 * fails, and counts nothing twice or too little.
 *
 * @param messages how many messages were looked at
 * @param restored how many of them were neither delayed nor leased, and are delayed again
 * @param bodiesMissing how many ids are delayed or leased without a message: it is lost, and its id is dropped
 *     when it is claimed
 * @param recordsDropped how many state records belonged to no message, and were dropped
 */
public record CheckResult(long messages, long restored, long bodiesMissing, long recordsDropped) {}
