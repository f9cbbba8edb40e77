// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

/** A change that the console can make, and a right of its own. */
public enum ConsoleAction {
    /** Cancels a message. */
    CANCEL("cancel"),
    /** Makes a message due now. */
    PROMOTE("promote"),
    /** Moves a message to another due time. */
    RESCHEDULE("reschedule"),
    /** Lets one dead letter be delivered again. */
    REDRIVE("redrive"),
    /** Purges one dead letter. */
    PURGE("purge"),
    /** Pauses a queue. */
    PAUSE("pause"),
    /** Ends the pause of a queue. */
    RESUME("resume"),
    /** Lets all dead letters of a cause be delivered again. */
    REDRIVE_ALL("redriveAll"),
    /** Purges the dead letters of a cause or a group, or all. */
    PURGE_ALL("purgeAll"),
    /** Cancels all delayed messages of a queue. */
    CANCEL_ALL("cancelAll"),
    /** Checks a queue, and repairs it. */
    CHECK("check");

    private final String code;

    ConsoleAction(String code) {
        this.code = code;
    }

    /** Its name in the JSON API. */
    public String code() {
        return code;
    }
}
