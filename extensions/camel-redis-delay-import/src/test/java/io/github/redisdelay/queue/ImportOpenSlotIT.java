// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Imports in a cluster: within one slot, and not while that is moved. */
class ImportOpenSlotIT extends ClusterIT {

    @Test
    void should_execute_nothing_on_a_part_of_both_queues() {
        QueueKeys keys = ImportScripts.keys(QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, "open"), "open");
        new OpenSlotQueue(cluster, keys, List.of(ImportScripts.LOOK, ImportScripts.IMPORT), true).moveAll();
    }

    @Test
    void should_import_from_the_same_slot_only() throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS)) {
            OldQueue old = new OldQueue(redisson, "{imported}:delayed");
            old.offer("pending", System.currentTimeMillis() + 3_600_000);
            old.ready("ready");
            for (DelayQueue other : List.of(client.queue("another"), client.queue("imported", 3))) {
                assertThatThrownBy(() -> RedissonImport.into(other)
                                .run(new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING)
                                .get(20, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageMatching("queue '(another|imported', partition 1 of 3).*: cannot import from"
                                + " Redisson's queue '\\{imported}:delayed': its keys are in slot "
                                + cluster.slot(old.name) + " of the cluster, those of the queue in slot \\d+: import"
                                + " into a queue with one partition and the name 'imported', if need be with another"
                                + " keyPrefix");
            }
            assertThat(old.size()).isEqualTo(2);
            DelayQueue queue = client.queue("imported");
            ImportReport report = RedissonImport.into(queue)
                    .run(new ImportSource(old.name), ConvertedPayload::of, ImportOptions.EVERYTHING)
                    .get(20, TimeUnit.SECONDS);
            assertThat(report.moved()).isEqualTo(2);
            assertThat(queue.admin().stats().get(20, TimeUnit.SECONDS).delayed())
                    .isEqualTo(2);
            assertThat(old.size()).isZero();
        }
    }
}
