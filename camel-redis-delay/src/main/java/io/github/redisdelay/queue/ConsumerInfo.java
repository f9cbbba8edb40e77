// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * A consumer that was seen.
 *
 * @param name by which people know it, as in {@link MessageInfo#leaseOwner()}; several may have the same one
 * @param lastSeenMicros the time of its last heartbeat, in microseconds since the epoch by the Redis server's clock: a consumer
 *     that runs does so every 60 s, also while it is suspended or full. {@link QueueStats#consumers()} counts those of the
 *     last 140 s
 * @param version the version of camel-redis-delay that it runs
 */
public record ConsumerInfo(String name, long lastSeenMicros, String version) {}
