// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.Durability;
import java.time.Duration;
import java.util.Locale;

/** An error about a {@link Durability} that this Redis, or this client, can never provide. Nothing was changed. */
public final class DurabilityUnavailableException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    /**
     * Redis refused to wait, or its answer proves nothing.
     *
     * @param reason what it said, or the exception made from a {@linkplain #DurabilityUnavailableException(String) fault}
     */
    public DurabilityUnavailableException(Durability wanted, Throwable reason) {
        super(text(wanted, reason), reason);
    }

    /** @param fault the reason why the answer of Redis proves nothing, a clause */
    public DurabilityUnavailableException(String fault) {
        super(fault);
    }

    /** Redisson would take a connection that waits for so long for a dead one. */
    public DurabilityUnavailableException(Durability wanted, Duration limit) {
        super(
                "the wait for replicas or the disk (replicationTimeout) is "
                        + wanted.timeout().toMillis()
                        + " ms, nothing was changed: it must be shorter than " + limit.toMillis()
                        + " ms, after which Redisson closes a connection that does not answer its ping. That is the longer one"
                        + " of 'timeout' and half of 'pingConnectionInterval' in Redisson's configuration",
                null);
    }

    /** This is not a client of Redisson's own. */
    public DurabilityUnavailableException(Class<?> client) {
        super(
                "a RedissonClient of " + client
                        + " cannot be made to wait for replicas or the disk, nothing was changed:"
                        + " give one that Redisson has made",
                null);
    }

    private static String text(Durability wanted, Throwable reason) {
        String what = wanted.disk() ? "its disk (waitForDisk)" : "its replicas (waitForReplicas)";
        String said = ErrorText.of(reason);
        return "Redis cannot wait for " + what + ", nothing was changed"
                + (reason instanceof DurabilityUnavailableException
                        ? ": " + said
                        : remedy(wanted, said) + ". It says: " + said);
    }

    private static String remedy(Durability wanted, String said) {
        if (said.contains("appendonly")) {
            return ": set appendonly yes in the server's configuration";
        }
        if (!wanted.disk() || !(said.contains("unknown command") || said.contains("NOPERM"))) {
            return "";
        }
        // Redis before 7.0 writes `WAITAOF`.
        return said.toLowerCase(Locale.ROOT).replace('`', '\'').contains("unknown command 'waitaof'")
                ? ": WAITAOF needs Redis 7.2 or Valkey, wait for replicas alone or set appendfsync always"
                : ": let this user call WAITAOF, CONFIG GET and INFO by these names (ACL: +waitaof +config|get +info),"
                        + " from which the client knows whether the server's answer is right, or set waitForDisk=false";
    }
}
