// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
/** What requests are about, and what follows from it for how they are sent. */
public enum RequestKind {
    /**
     * What producers ask for. The number of waiting requests is bounded, each has a deadline, and what Redis refuses is told to the
     * caller.
     */
    CHANGE,

    /**
     * What finishes or keeps a delivery. The deliveries under way bound the number of these requests, so callers never wait for
     * space. They have no deadline, and are repeated after a refusal that may pass (no memory, no permission).
     */
    DELIVERY;

    static RequestKind of(LuaScript script) {
        return switch (script) {
            case SETTLE, ACKNOWLEDGE, EXTEND -> DELIVERY;
            default -> CHANGE;
        };
    }

    /** Whether an error is Redis's last word on a call. All else is worth another try. */
    boolean isFinal(Throwable error) {
        return this == DELIVERY ? RedisErrors.isPermanent(error) : RedisErrors.isRefusal(error);
    }
}
