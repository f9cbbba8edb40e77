// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.ConsoleRights;
import java.util.EnumSet;
import java.util.Set;

/**
 * Whoever looks at the console, and what is allowed there.
 *
 * @param name the user's; null if it is not known
 * @param peer the address from which the request came
 * @param rights what the access hook allows
 * @param readOnly true if the console changes nothing, whoever asks
 */
public record ConsoleUser(String name, String peer, ConsoleRights rights, boolean readOnly) {

    /** Returns whether a queue may be seen. */
    public boolean canRead(String queue) {
        return rights.canRead(queue);
    }

    /** The actions that are allowed in a queue. */
    public Set<ConsoleAction> actions(String queue) {
        return readOnly || !canRead(queue) ? EnumSet.noneOf(ConsoleAction.class) : rights.actions(queue);
    }

    /** Returns whether an action is allowed in a queue. */
    public boolean can(ConsoleAction action, String queue) {
        return actions(queue).contains(action);
    }
}
