// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * A Redis whose queues are shown.
 *
 * @param client the requests of the console go by it
 * @param label the address without credentials, and the key prefix if it is not the default one: it tells sources apart
 * @param partitions the queues that are known besides those that Redis knows, each with the number of its partitions; 0
 *     where only Redis knows the number
 * @param declared whether a route of this process declares the recurring schedule of a queue, by their names
 */
public record QueueSource(
        DelayQueueClient client, String label, Map<String, Integer> partitions, BiPredicate<String, String> declared) {

    /** One whose routes are elsewhere. */
    public QueueSource(DelayQueueClient client, String label, Map<String, Integer> partitions) {
        this(client, label, partitions, (queue, id) -> false);
    }
}
