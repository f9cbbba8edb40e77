// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

/** Two records that JSON shows as one object with the members of both. */
public record FlattenedJson(Record first, Record second) {}
