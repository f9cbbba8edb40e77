// SPDX-License-Identifier: Apache-2.0
/**
 * Requests and their answers, the table of paths with the right that each needs, and who is let in. Knows no server.
 */
package io.github.redisdelay.console.http;
