// SPDX-License-Identifier: Apache-2.0
/**
 * The errors that callers of the queue layer get, with their words for people: the name of the queue, what has happened to the
 * message, and what would help.
 */
package io.github.redisdelay.queue.exception;
