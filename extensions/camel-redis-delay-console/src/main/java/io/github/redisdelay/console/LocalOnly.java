// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

/** Lets in what comes from this machine by no proxy. */
final class LocalOnly implements ConsoleAccess {

    @Override
    public ConsoleRights rights(ConsoleRequest request) {
        return request.isLocal() ? ConsoleRights.all() : ConsoleRights.none();
    }
}
