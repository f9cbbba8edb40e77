// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.util.List;
import java.util.Set;

/**
 * The Redis keys of one queue, or of one partition of it. All have the queue's name as their hash tag, or the tag of the
 * partition, so that they live in one slot of a cluster.
 *
 * @param base the beginning of each key; also the queue's name in wake-ups
 * @param deadLetters true if the messages are dead letters
 * @param foreign the keys outside of the queue that scripts of another module name as well; empty for those of the queues
 */
public record QueueKeys(String base, boolean deadLetters, List<Object> foreign) {

    private static final String DEAD = ":dead";

    /** The parts that are hashes, in a queue and in its dead letters. All others are sorted sets. */
    private static final Set<String> HASHES = Set.of("messages", "state", "sessions", "config", "consumers");

    /** @param tag the hash tag: the queue's name, or the tag of one of its partitions */
    public static QueueKeys of(String prefix, String tag) {
        return new QueueKeys(prefix + ":{" + tag + "}", false, List.of());
    }

    /** The key of the registry of queues. It has no hash tag, and all keys of queues have one: it is none of them. */
    public static QueueKeys registry(String prefix) {
        return new QueueKeys(prefix, false, List.of());
    }

    /** The dead letters: a queue of their own in the same slot. */
    public QueueKeys dead() {
        return new QueueKeys(base + DEAD, true, foreign);
    }

    /** The beginning of the queue's keys, those of its dead letters included. */
    public String wholeQueue() {
        return deadLetters ? base.substring(0, base.length() - DEAD.length()) : base;
    }

    /** The same keys with some outside of the queue. */
    public QueueKeys with(List<Object> others) {
        return new QueueKeys(base, deadLetters, others);
    }

    /** The keys of a script, in the order that its comment names, with those of the priorities. */
    public List<Object> of(LuaScript script) {
        return script.keys(this);
    }

    /** The kind of a key: {@code h} for a hash, {@code z} for a sorted set. */
    static String kind(String part) {
        return HASHES.contains(part.replaceFirst("^dead:", "")) ? "h" : "z";
    }

    public String key(String part) {
        return base + ":" + part;
    }
}
