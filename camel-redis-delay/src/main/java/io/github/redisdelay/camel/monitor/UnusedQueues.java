// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.monitor;

import io.github.redisdelay.queue.DelayQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of an operation that found nothing in a queue that nobody seems to use: its name may be misspelt, which looks as if
 * the message was gone already. Asks once for each queue. Thread-safe.
 */
public final class UnusedQueues {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedQueues.class);

    /** Names may come from outside. */
    private static final int MAX = 1000;

    private final Set<String> asked = ConcurrentHashMap.newKeySet();

    /**
     * Notes that an operation found nothing.
     *
     * @param place what tells queues of the same name apart: their server, database and key prefix
     * @return done when it was asked for; nobody has to wait for it
     */
    public CompletableFuture<Void> foundNothing(String place, DelayQueue queue) {
        String asking = place + " " + queue.name();
        if (asked.size() >= MAX || !asked.add(asking)) {
            return CompletableFuture.completedFuture(null);
        }
        return queue.admin()
                .stats()
                .whenComplete((stats, error) -> {
                    if (error != null) {
                        asked.remove(asking); // the next one asks again
                    } else if (stats.consumers() == 0 && stats.stored() + stats.delayed() + stats.dead() == 0) {
                        LOG.warn(
                                "queue '{}' at {} had nothing to cancel: it has no message, no dead letter and no consumer. Is that"
                                        + " its name? This is logged once for each queue",
                                queue.name(),
                                place);
                    }
                })
                .thenAccept(stats -> {});
    }
}
