// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.Durability;
import java.time.Duration;

/** An error about a {@link Durability} that this Redis, or this client, can never provide. Nothing was changed. */
public final class DurabilityUnavailableException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    /**
     * Redis refused to wait.
     *
     * @param refusal what it said
     */
    public DurabilityUnavailableException(Durability wanted, String refusal, Throwable cause) {
        super(text(wanted, refusal), cause);
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

    private static String text(Durability wanted, String refusal) {
        String what = wanted.disk() ? "its disk (waitForDisk)" : "its replicas (waitForReplicas)";
        String remedy = "";
        if (refusal.contains("unknown command")) {
            remedy = ": WAITAOF needs Redis 7.2 or Valkey, wait for replicas alone or set appendfsync always";
        } else if (refusal.contains("appendonly")) {
            remedy = ": set appendonly yes in the server's configuration";
        }
        return "Redis cannot wait for " + what + ", nothing was changed" + remedy + ". It says: " + refusal;
    }
}
