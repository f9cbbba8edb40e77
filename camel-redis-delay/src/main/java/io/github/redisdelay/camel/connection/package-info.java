// SPDX-License-Identifier: Apache-2.0
/**
 * Connections to Redis: their settings, the Redisson clients that are made of them, and the delay queue clients, which
 * endpoints with equal settings share.
 */
package io.github.redisdelay.camel.connection;
