// SPDX-License-Identifier: Apache-2.0
/**
 * Arguments, replies and records as the scripts read and write them: claims, settlements, pages, state records, message ids. It
 * computes, and knows neither Redisson nor threads.
 */
package io.github.redisdelay.queue.internal.format;
