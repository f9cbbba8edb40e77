// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

/** A request that is not carried out, with a sentence for people that says why, and what to do. */
public final class ApiException extends RuntimeException {

    /** The kinds of refusal, as programs tell them apart. */
    public enum Kind {
        BAD_REQUEST("badRequest"),
        READ_ONLY("readOnly"),
        FORBIDDEN("forbidden"),
        NOT_FOUND("notFound"),
        /** The message is not any more as the user saw it. */
        CHANGED("changed"),
        BUSY("busy"),
        /** Redis does not answer. */
        UNREACHABLE("unreachable");

        private final String code;

        Kind(String code) {
            this.code = code;
        }

        /** Its name in the JSON API. */
        public String code() {
            return code;
        }
    }

    private final Kind kind;
    private final transient Object message;

    public ApiException(Kind kind, String text) {
        this(kind, text, null);
    }

    /** @param message the message as it is now, for {@link Kind#CHANGED}; null if it is gone */
    public ApiException(Kind kind, String text, Object message) {
        super(text, null, false, false);
        this.kind = kind;
        this.message = message;
    }

    public Kind kind() {
        return kind;
    }

    /** The message as it is now; null if there is none. */
    public Object message() {
        return message;
    }
}
