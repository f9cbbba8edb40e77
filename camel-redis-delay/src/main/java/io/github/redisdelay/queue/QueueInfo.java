// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A queue of the registry of queues.
 *
 * @param name its name; of a queue with partitions that of the whole queue
 * @param lastUsedMicros when it was last used, in microseconds since the epoch by the Redis server's clock. It is noted once
 *     a minute while a consumer runs, and otherwise once in an hour, so a use may be up to that much later
 */
public record QueueInfo(String name, long lastUsedMicros) {}
