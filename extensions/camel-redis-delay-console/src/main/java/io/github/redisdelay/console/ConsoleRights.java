// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The queues that somebody may see, and the actions that are allowed there. Immutable. */
public final class ConsoleRights {

    private static final ConsoleRights NONE = new ConsoleRights(false, Set.of(), null, null);
    private static final ConsoleRights READ = new ConsoleRights(true, Set.of(), null, null);
    private static final ConsoleRights ALL = new ConsoleRights(true, EnumSet.allOf(ConsoleAction.class), null, null);

    private final boolean read;
    private final Set<ConsoleAction> actions;
    /** Decides for each queue; null if all queues are the same. */
    private final Function<String, ConsoleRights> byQueue;
    /** Null if the principal of the request is the user. */
    private final String user;

    private ConsoleRights(
            boolean read, Set<ConsoleAction> actions, Function<String, ConsoleRights> byQueue, String user) {
        this.read = read;
        this.actions = actions;
        this.byQueue = byQueue;
        this.user = user;
    }

    /** No right at all: the request is refused. */
    public static ConsoleRights none() {
        return NONE;
    }

    /** The right to see all queues, and to change none. */
    public static ConsoleRights read() {
        return READ;
    }

    /** All rights for all queues. What the console's own options forbid stays forbidden. */
    public static ConsoleRights all() {
        return ALL;
    }

    /** The right to see all queues, and to do this in each. */
    public static ConsoleRights of(Set<ConsoleAction> actions) {
        return new ConsoleRights(true, Set.copyOf(actions), null, null);
    }

    /**
     * Rights that differ from queue to queue.
     *
     * @param rights is asked with a queue's name; {@link #none()} hides the queue
     */
    public static ConsoleRights byQueue(Function<String, ConsoleRights> rights) {
        return new ConsoleRights(true, Set.of(), Objects.requireNonNull(rights, "rights"), null);
    }

    /** The same rights of a user with this name, as the log shows it; otherwise it is the request's principal. */
    public ConsoleRights as(String user) {
        return new ConsoleRights(read, actions, byQueue, user);
    }

    /** The user's name, if the access hook has given one. */
    public Optional<String> user() {
        return Optional.ofNullable(user);
    }

    /** Returns whether there is any right at all. */
    public boolean any() {
        return read;
    }

    /** Returns whether a queue may be seen. */
    public boolean canRead(String queue) {
        return byQueue == null ? read : byQueue.apply(queue).canRead(queue);
    }

    /** The actions that are allowed in a queue; none in one that may not be seen. */
    public Set<ConsoleAction> actions(String queue) {
        return byQueue == null ? actions : byQueue.apply(queue).actions(queue);
    }
}
