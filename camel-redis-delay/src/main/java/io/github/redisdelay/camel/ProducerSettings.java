// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;

/**
 * What a producer does unless headers say otherwise.
 *
 * @param due from the options delay or deliverAt; null if neither is set
 */
record ProducerSettings(DueTime due, RedisDelayOperation operation, DuplicatePolicy onDuplicate, boolean batching) {}
