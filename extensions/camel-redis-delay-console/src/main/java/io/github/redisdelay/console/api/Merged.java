// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

/** Two records whose members are those of one object. */
public record Merged(Record first, Record second) {}
