// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedisErrors;

/** The kinds of requests. The kind decides about bounds, deadlines and repeats. */
public enum RequestKind {
    /**
     * Requests of producers. The number of waiting requests is bounded, each has a deadline, and what Redis refuses is
     * told to the caller.
     */
    CHANGE,

    /**
     * Requests that finish a delivery or extend its lease. The deliveries under way bound the number of these requests,
     * so callers never wait for space. They have no deadline, and are repeated after a refusal that may pass (no
     * memory, no permission).
     */
    DELIVERY;

    static RequestKind of(LuaScript script) {
        return script.isForDeliveries() ? DELIVERY : CHANGE;
    }

    /** True if an error is Redis's last word on a call. All else is worth another try. */
    boolean isFinal(Throwable error) {
        return this == DELIVERY ? RedisErrors.isPermanent(error) : RedisErrors.isRefusal(error);
    }
}
