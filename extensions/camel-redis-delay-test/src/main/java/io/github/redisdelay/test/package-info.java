// SPDX-License-Identifier: Apache-2.0
/**
 * A real Redis for tests of routes with {@code redis-delay}, for JUnit 5 (and newer). Knows nothing of Camel.
 *
 * <p>Start with {@link io.github.redisdelay.test.RedisExtension}; {@link io.github.redisdelay.test.RedisServer} says
 * which server the tests get, and how to choose another one.
 */
package io.github.redisdelay.test;
