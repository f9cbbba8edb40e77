// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.util.Optional;

/** The facts about a request by which a {@link ConsoleAccess} decides who it is and what it may do. */
public interface ConsoleRequest {

    /** The address from which it came, such as {@code 10.0.0.7}; empty where the server does not tell. */
    String peer();

    /** Returns whether it came from this machine by no proxy: from a loopback address, and forwarded by nobody. */
    boolean isLocal();

    /** A header's only value; empty if there is none, or more than one. */
    Optional<String> header(String name);

    /** The name of the user whom the server has made sure of; empty if it has not. */
    Optional<String> principal();
}
