// SPDX-License-Identifier: Apache-2.0
/** The data that each version has left in Redis: this one can still read it. */
package io.github.redisdelay.stored;
