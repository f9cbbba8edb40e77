// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

/**
 * The effect of an action.
 *
 * @param outcome in a word, for programs: {@code done}, {@code nothing} and the like
 * @param text what really happened, for people
 */
public record ActionResult(String outcome, String text) {}
