// SPDX-License-Identifier: Apache-2.0
/**
 * One script call to Redis: scripts, keys, errors, and the wait for replicas or the disk. It sends each call once and never
 * repeats one whose outcome is not known. It knows nothing of sessions, batches or consumers.
 *
 * <p>A new script is a file in {@code queue/lua/command}, and a constant in {@link
 * io.github.redisdelay.queue.internal.redis.LuaScript}.
 */
package io.github.redisdelay.queue.internal.redis;
