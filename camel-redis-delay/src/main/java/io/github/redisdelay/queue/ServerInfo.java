// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * The facts that the Redis server of a queue reports of itself.
 *
 * @param product {@code Redis} or {@code Valkey}
 * @param version its version, or {@code unknown} where the server does not tell
 * @param evictionPolicy {@code maxmemory-policy}, or {@code unknown}
 * @param appendOnly whether the append-only file is on; null where the server does not tell
 */
public record ServerInfo(String product, String version, String evictionPolicy, Boolean appendOnly) {

    /** Returns whether a restart of the server loses what came after its last snapshot. */
    public boolean forgets() {
        return Boolean.FALSE.equals(appendOnly);
    }

    /** Returns whether the server may throw messages away when its memory is full. */
    public boolean evicts() {
        return !evictionPolicy.equals("noeviction") && !evictionPolicy.equals("unknown");
    }
}
