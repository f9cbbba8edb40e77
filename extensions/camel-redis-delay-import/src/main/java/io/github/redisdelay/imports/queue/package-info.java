// SPDX-License-Identifier: Apache-2.0
/**
 * Imports from Redisson's {@code RDelayedQueue} without Camel:
 * {@link io.github.redisdelay.imports.queue.RedissonImport} is the entry. Uses what is internal to the queue layer, so
 * it has to be of the same version.
 */
package io.github.redisdelay.imports.queue;
