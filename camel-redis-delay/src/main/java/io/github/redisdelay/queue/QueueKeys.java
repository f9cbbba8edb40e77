// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.List;

/**
 * The Redis keys of one queue. All have the queue's name as their hash tag, so that they live in one slot of a cluster.
 *
 * @param base what they begin with; also the queue's name in wake-ups
 */
record QueueKeys(String base) {

    static QueueKeys of(String prefix, String queue) {
        return new QueueKeys(prefix + ":{" + queue + "}");
    }

    /** The dead letters: a queue of their own in the same slot. */
    QueueKeys dead() {
        return new QueueKeys(base + ":dead");
    }

    /** The keys of a script, in the order that its comment names. */
    List<Object> of(LuaScript script) {
        return switch (script) {
            case SCHEDULE, CHANGE, CLAIM ->
                List.of(key("messages"), key("delayed"), key("leased"), key("state"), key("calls"), key("config"));
            case SETTLE ->
                List.of(
                        key("messages"),
                        key("delayed"),
                        key("leased"),
                        key("state"),
                        key("calls"),
                        key("config"),
                        dead().key("messages"),
                        dead().key("delayed"),
                        dead().key("state"));
            case EXTEND -> List.of(key("messages"), key("leased"), key("state"), key("calls"), key("config"));
            case STATS -> List.of(key("delayed"), key("leased"), dead().key("delayed"), dead().key("leased"));
            case SERVER -> List.of(key("messages"));
        };
    }

    String key(String part) {
        return base + ":" + part;
    }
}
