// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.util.List;

/**
 * The place of a queue, or of one partition of it, or of the registry of all queues, in Redis.
 *
 * @param name the queue's name; empty for the registry
 * @param partitionLabel suffix for messages, e.g. {@code , partition 2 of 3}; empty if it is the whole queue
 * @param keys its keys
 */
public record QueueAddress(String name, String partitionLabel, QueueKeys keys) {

    /** The address of a queue that has no partitions. */
    public static QueueAddress of(String prefix, String name) {
        return new QueueAddress(name, "", QueueKeys.of(prefix, name));
    }

    /** The address of the registry of queues. */
    public static QueueAddress registry(String prefix) {
        return new QueueAddress("", "", QueueKeys.registry(prefix));
    }

    /** The address of its dead letters, which are a queue of their own in the same slot. */
    public QueueAddress deadLetters() {
        return new QueueAddress(name, partitionLabel, keys.dead());
    }

    /** The same place, with keys outside of the queue that scripts of another module name as well. */
    public QueueAddress with(List<Object> foreign) {
        return new QueueAddress(name, partitionLabel, keys.with(foreign));
    }

    /** True if its messages are dead letters. */
    public boolean isDeadLetters() {
        return keys.deadLetters();
    }

    /** Its name for errors, without the partition. */
    public String label() {
        return name.isEmpty() ? "registry of queues '" + keys.key("queues") + "'" : "queue '" + name + "'";
    }

    @Override
    public String toString() {
        return label() + partitionLabel;
    }
}
