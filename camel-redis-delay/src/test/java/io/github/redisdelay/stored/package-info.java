// SPDX-License-Identifier: Apache-2.0
/** What each version has left in Redis, and whether this one can still read it. */
package io.github.redisdelay.stored;
