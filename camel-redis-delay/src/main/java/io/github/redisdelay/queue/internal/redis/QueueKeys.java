// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.ScheduleRequest;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The Redis keys of one queue, or of one partition of it. All have the queue's name as their hash tag, or the tag of the
 * partition, so that they live in one slot of a cluster.
 *
 * @param base the beginning of each key; also the queue's name in wake-ups
 * @param deadLetters true if the messages are dead letters
 * @param foreign the keys outside of the queue that scripts of another module name as well; empty for those of the queues
 */
public record QueueKeys(String base, boolean deadLetters, List<Object> foreign) {

    /** The number of keys of a script that may leave out those of the priorities. */
    static final int WITHOUT_PRIORITIES = 8;

    private static final String DEAD = ":dead";

    /** The first keys of the scripts that change the states of messages; see {@code queue.lua}. */
    private static final List<String> COMMON = Stream.concat(
                    Stream.of("messages", "delayed", "leased", "state", "sessions", "config", "seen", "waiters"),
                    IntStream.rangeClosed(1, ScheduleRequest.MAX_PRIORITY).mapToObj(priority -> "delayed:" + priority))
            .toList();

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

    /** The keys of a script, in the order that its comment names. */
    public List<Object> of(LuaScript script) {
        return script.keys(this);
    }

    /** The common keys of {@code queue.lua}, and more behind them. */
    public List<Object> common(String... more) {
        return keys(Stream.concat(COMMON.stream(), Stream.of(more)));
    }

    /** The common keys that a script needs which neither remembers ids nor makes messages due. */
    List<Object> plain() {
        return keys(COMMON.stream().limit(6));
    }

    List<Object> keys(String... parts) {
        return keys(Stream.of(parts));
    }

    private List<Object> keys(Stream<String> parts) {
        return parts.<Object>map(this::key).toList();
    }

    public String key(String part) {
        return base + ":" + part;
    }
}
