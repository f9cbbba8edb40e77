// SPDX-License-Identifier: Apache-2.0
/**
 * The entry to the queue layer: {@link io.github.redisdelay.queue.client.DelayQueueClient} wires all other packages, makes
 * queues and closes what it has made. It decides nothing else.
 */
package io.github.redisdelay.queue.client;
