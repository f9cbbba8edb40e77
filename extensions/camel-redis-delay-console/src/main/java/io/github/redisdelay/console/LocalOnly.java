// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

/** Allows direct requests from localhost only. */
final class LocalOnly implements ConsoleAccess {

    @Override
    public ConsoleRights rights(ConsoleRequest request) {
        return request.isLocal() ? ConsoleRights.all() : ConsoleRights.none();
    }
}
