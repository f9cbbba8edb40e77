// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.api.ApiException;
import io.github.redisdelay.console.api.ApiException.Kind;
import java.util.function.Function;

/**
 * The right that a path needs. There is none that lets in somebody without any right.
 *
 * @param text the right in words, as the documentation has it
 */
record Rule(String text, Check check) {

    /** Throws an {@link ApiException} if the right is missing. */
    interface Check {
        void check(Call call);
    }

    /** Any right at all. What is answered has only the queues that the user may see: the view sees to that. */
    static final Rule ENTER = new Rule("any", call -> {});

    /** The right to see the queue that parameter {@code queue} names. */
    static final Rule READ = new Rule("read", call -> {
        if (!call.user().canRead(call.text("queue"))) {
            throw new ApiException(Kind.FORBIDDEN, "You may not read this queue.");
        }
    });

    /** The right to do this in the queue that parameter {@code queue} names. */
    static Rule may(ConsoleAction action) {
        return may(action.code(), call -> action);
    }

    /** The same, for an action that depends on the parameters. */
    static Rule may(String text, Function<Call, ConsoleAction> which) {
        return new Rule(text, call -> check(call, which.apply(call), call.text("queue")));
    }

    /** Throws an {@link ApiException} unless the user may do this in the queue. */
    static void check(Call call, ConsoleAction action, String queue) {
        checkNotReadOnly(call);
        if (!call.user().can(action, queue)) {
            throw new ApiException(
                    Kind.FORBIDDEN, "You have no right to do this (" + action.code() + ") in this queue.");
        }
    }

    /** Throws an {@link ApiException} if the console changes nothing, whoever asks. */
    static void checkNotReadOnly(Call call) {
        if (call.user().readOnly()) {
            throw new ApiException(
                    Kind.READ_ONLY, "This console changes nothing: its operator has to start it with actions allowed.");
        }
    }
}
