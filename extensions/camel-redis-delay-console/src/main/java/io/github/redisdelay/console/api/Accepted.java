// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

/** An answer of something that has begun and goes on. */
public interface Accepted {}
