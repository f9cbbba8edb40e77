// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.ScheduleRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * The Redis keys of one queue, or of one partition of it. All have the queue's name as their hash tag, or the tag of the
 * partition, so that they live in one slot of a cluster.
 *
 * @param base the beginning of each key; also the queue's name in wake-ups
 * @param deadLetters true if the messages are dead letters
 */
public record QueueKeys(String base, boolean deadLetters) {

    /** The first keys of the scripts that change the states of messages; see {@code queue.lua}. */
    private static final List<String> COMMON =
            List.of("messages", "delayed", "leased", "state", "sessions", "config", "seen");

    /** @param tag the hash tag: the queue's name, or the tag of one of its partitions */
    public static QueueKeys of(String prefix, String tag) {
        return new QueueKeys(prefix + ":{" + tag + "}", false);
    }

    /** The dead letters: a queue of their own in the same slot. */
    public QueueKeys dead() {
        return new QueueKeys(base + ":dead", true);
    }

    /** The keys of a script, in the order that its comment names. */
    public List<Object> of(LuaScript script) {
        return switch (script) {
            case SCHEDULE, CLAIM -> common(key("waiters"));
            case CHANGE -> common(key("waiters"), key("index"), dead().key("index"), dead().key("messages"));
            case REPAIR -> common(key("waiters"), key("index"));
            case SETTLE ->
                common(
                        key("waiters"),
                        dead().key("messages"),
                        dead().key("delayed"),
                        dead().key("state"),
                        dead().key("waiters"),
                        dead().key("index"),
                        key("index"));
            case REDRIVE ->
                common(
                        key("waiters"),
                        dead().key("messages"),
                        dead().key("delayed"),
                        dead().key("leased"),
                        dead().key("state"),
                        dead().key("index"));
            case EXTEND, ACKNOWLEDGE ->
                COMMON.stream().limit(6).<Object>map(this::key).toList();
            case GET, BROWSE -> common(key("consumers"));
            case STATS -> common(key("consumers"), dead().key("delayed"), dead().key("leased"));
            case DEAD_LETTERS -> List.of(dead().key("index"), dead().key("messages"), key("config"));
            case TRIM ->
                List.of(
                        dead().key("messages"),
                        dead().key("delayed"),
                        dead().key("state"),
                        key("config"),
                        dead().key("index"));
            case HEARTBEAT -> List.of(key("consumers"));
            case SERVER -> List.of(key("messages"));
            case PARTITIONS ->
                List.of(key("config"), dead().key("config"), key("messages"), dead().key("messages"), key("seen"));
            case REPLICATION -> List.of(key("sessions"));
        };
    }

    private List<Object> common(String... more) {
        List<Object> keys = new ArrayList<>(COMMON.size() + ScheduleRequest.MAX_PRIORITY + more.length);
        for (String part : COMMON) {
            keys.add(key(part));
        }
        for (int priority = 1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            keys.add(key("delayed:" + priority));
        }
        keys.addAll(List.of(more));
        return keys;
    }

    public String key(String part) {
        return base + ":" + part;
    }
}
