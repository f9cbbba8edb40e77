// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.util.Optional;

/**
 * Decides who may see and do what. It is asked with each request, on the request's thread, and must not block for long.
 * One that throws gives no rights.
 */
@FunctionalInterface
public interface ConsoleAccess {

    /** The rights of whoever sends this request; never null. */
    ConsoleRights rights(ConsoleRequest request);

    /** The value of {@code WWW-Authenticate} for a request without rights; by default there is none. */
    default Optional<String> challenge() {
        return Optional.empty();
    }

    /**
     * All rights for requests from this machine that no proxy has forwarded, and none for others. This is the default.
     */
    static ConsoleAccess localOnly() {
        return new LocalOnly();
    }

    /**
     * One user with a password, by HTTP Basic, who has all rights. Use it behind TLS: the password comes with each
     * request.
     *
     * @param hash of the password, as {@link PasswordHash} makes it
     * @throws IllegalArgumentException if the user or the hash is not possible
     */
    static ConsoleAccess basic(String user, String hash) {
        return basic(user, hash, ConsoleRights.all());
    }

    /** The same with these rights. */
    static ConsoleAccess basic(String user, String hash, ConsoleRights rights) {
        return new BasicAccess(user, hash, rights);
    }
}
