// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.MessageInfo;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The leased messages of a queue, as far as they were read.
 *
 * @param counts how many each consumer has, by its name
 * @param longest the delivery that was seen first; null if there is none
 * @param seen when each delivery was seen first, by Redis' clock: Redis does not store when a lease began
 */
record Leased(Map<String, Integer> counts, Longest longest, Map<Delivery, Long> seen) {

    static final Leased NOTHING = new Leased(Map.of(), null, Map.of());

    /** A delivery, which another one of the same message differs from by its attempt. */
    record Delivery(String id, int attempt) {}

    /**
     * A delivery under way.
     *
     * @param consumer its name; empty if it has none
     * @param forMicros for how long it has been seen; it may have begun before
     */
    record Longest(String id, String consumer, long dueMicros, long sinceMicros, long forMicros) {}

    /** @param before what was read the last time */
    static Leased of(List<MessageInfo> messages, Leased before, long nowMicros) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<Delivery, Long> seen = new HashMap<>();
        for (MessageInfo message : messages) {
            counts.merge(message.leaseOwner(), 1, Integer::sum);
            seen.put(delivery(message), before.seen().getOrDefault(delivery(message), nowMicros));
        }
        Longest longest = messages.stream()
                .min(Comparator.comparing((MessageInfo message) -> seen.get(delivery(message)))
                        .thenComparing(MessageInfo::dueMicros))
                .map(first -> {
                    long since = seen.get(delivery(first));
                    return new Longest(
                            first.id(), first.leaseOwner(), first.dueMicros(), since, Math.max(0, nowMicros - since));
                })
                .orElse(null);
        return new Leased(counts, longest, seen);
    }

    private static Delivery delivery(MessageInfo message) {
        return new Delivery(message.id(), message.attempts());
    }
}
