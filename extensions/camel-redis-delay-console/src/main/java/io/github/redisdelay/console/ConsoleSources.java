// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.console.api.QueueSource;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The places where the queues of a console are. */
interface ConsoleSources extends AutoCloseable {

    /** @param named queues that are shown besides those that are found */
    List<QueueSource> get(List<String> named);

    /** The imports of this process. */
    List<ImportModule.Run> imports();

    @Override
    void close();

    /** Clients that stay the caller's. */
    static ConsoleSources of(DelayQueueClient... clients) {
        List<DelayQueueClient> all = List.of(clients);
        return new ConsoleSources() {
            @Override
            public List<QueueSource> get(List<String> named) {
                Map<String, Integer> partitions = new LinkedHashMap<>();
                named.forEach(name -> partitions.put(name, 0));
                return all.stream()
                        .map(client -> new QueueSource(client, label(client), partitions))
                        .toList();
            }

            @Override
            public List<ImportModule.Run> imports() {
                return List.of();
            }

            @Override
            public void close() {}
        };
    }

    private static String label(DelayQueueClient client) {
        return client.queue("any").server().replaceFirst("^Redis at ", "");
    }
}
