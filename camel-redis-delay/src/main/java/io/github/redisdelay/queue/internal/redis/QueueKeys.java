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
 * @param source the name of the Redisson queue whose keys the scripts of an import name as well; null outside of an import
 */
public record QueueKeys(String base, boolean deadLetters, String source) {

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
        return new QueueKeys(prefix + ":{" + tag + "}", false, null);
    }

    /** The key of the registry of queues. It has no hash tag, and all keys of queues have one: it is none of them. */
    public static QueueKeys registry(String prefix) {
        return new QueueKeys(prefix, false, null);
    }

    /** The dead letters: a queue of their own in the same slot. */
    public QueueKeys dead() {
        return new QueueKeys(base + DEAD, true, source);
    }

    /** The beginning of the queue's keys, those of its dead letters included. */
    public String wholeQueue() {
        return deadLetters ? base.substring(0, base.length() - DEAD.length()) : base;
    }

    /** The same keys with those of a Redisson queue. */
    public QueueKeys importing(String redissonQueue) {
        return new QueueKeys(base, deadLetters, redissonQueue);
    }

    /** The keys of a script, in the order that its comment names. */
    public List<Object> of(LuaScript script) {
        return switch (script) {
            case SCHEDULE, CLAIM -> common();
            case CHANGE -> common("index", "dead:index", "dead:messages");
            case REPAIR -> common("index");
            case SETTLE -> common("dead:messages", "dead:delayed", "dead:state", "dead:waiters", "dead:index", "index");
            case REDRIVE -> common("dead:messages", "dead:delayed", "dead:leased", "dead:state", "dead:index");
            case ACKNOWLEDGE -> keys(COMMON.stream().limit(6));
            case GET, BROWSE -> common("consumers");
            case OUTLOOK -> common();
            case STATS -> common("consumers", "dead:delayed", "dead:leased");
            case DEAD_LETTERS -> keys(Stream.of("dead:index", "dead:messages", "config"));
            case TRIM -> keys(Stream.of("dead:messages", "dead:delayed", "dead:state", "config", "dead:index"));
            case HEARTBEAT, CONSUMERS -> keys(Stream.of("consumers"));
            case SERVER -> keys(Stream.of("messages"));
            case REGISTER, QUEUES -> keys(Stream.of("queues"));
            case PARTITIONS -> keys(Stream.of("config", "dead:config", "messages", "dead:messages", "seen"));
            case REPLICATION -> keys(Stream.of("sessions"));
            case LOOK -> List.of(foreign("redisson_delay_queue_timeout"), source);
            case IMPORT -> {
                String pending = foreign("redisson_delay_queue_timeout");
                yield Stream.concat(
                                common().stream(),
                                Stream.of(pending, foreign("redisson_delay_queue"), source, pending + ":none"))
                        .toList();
            }
        };
    }

    /** A key of Redisson's delayed queue, named as RedissonObject.prefixName does. */
    private String foreign(String prefix) {
        return prefix + (source.contains("{") ? ":" + source : ":{" + source + "}");
    }

    private List<Object> common(String... more) {
        return keys(Stream.concat(COMMON.stream(), Stream.of(more)));
    }

    private List<Object> keys(Stream<String> parts) {
        return parts.<Object>map(this::key).toList();
    }

    public String key(String part) {
        return base + ":" + part;
    }
}
