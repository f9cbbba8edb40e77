// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ServerInfo;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns once of each server that is set up to lose messages. Thread-safe. */
final class ServerWarnings {

    private static final Logger LOG = LoggerFactory.getLogger(ServerWarnings.class);

    private final Set<String> told = ConcurrentHashMap.newKeySet();

    /** A consumer uses the server at an address. */
    void check(String address, ServerInfo server) {
        if (server.evicts() && told.add("evicts " + address)) {
            LOG.warn(
                    "Redis at {} has maxmemory-policy {}: when its memory is full it throws messages away. Set it to"
                            + " noeviction",
                    address,
                    server.evictionPolicy());
        }
        if (server.forgets() && told.add("forgets " + address)) {
            LOG.warn(
                    "Redis at {} has its append-only file off: a restart of it loses messages, all that came after its last"
                            + " snapshot. Set appendonly to yes",
                    address);
        }
    }
}
