// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

/** The duties of a consumer after a claim: when it comes again. Their order is that of their numbers in {@code claim.lua}. */
public enum WakeupDuty {
    /** It need not come before its safety interval is over: others have promised to come before. */
    NONE,
    /** It comes by the next event. */
    FIRST,
    /** It comes by 10 ms after the next event: another consumer has promised to come first. */
    BACKUP,
    /** It comes when it has capacity: nobody counts on it. */
    LEFT
}
