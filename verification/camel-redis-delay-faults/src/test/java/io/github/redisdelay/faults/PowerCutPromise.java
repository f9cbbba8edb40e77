// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static io.github.redisdelay.faults.PowerCutPromise.Kept.ALL;
import static io.github.redisdelay.faults.PowerCutPromise.Kept.NOT_PROMISED;
import static io.github.redisdelay.faults.PowerCutPromise.Kept.UP_TO_THE_LAST_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.Durability;
import java.time.Duration;

/** What the documentation says of changes that were confirmed before a power cut. */
enum PowerCutPromise {
    ONE_ALWAYS(PowerOutage.ONE_SERVER, "always", 0, false, ALL),
    ONE_EVERYSEC(PowerOutage.ONE_SERVER, "everysec", 0, false, UP_TO_THE_LAST_SECONDS),
    ONE_ALWAYS_ON_DISK(PowerOutage.ONE_SERVER, "always", 0, true, ALL),
    ONE_EVERYSEC_ON_DISK(PowerOutage.ONE_SERVER, "everysec", 0, true, ALL),
    TORN_ALWAYS(PowerOutage.ONE_TORN, "always", 0, false, ALL),
    TORN_EVERYSEC(PowerOutage.ONE_TORN, "everysec", 0, false, UP_TO_THE_LAST_SECONDS),
    REWRITING_ALWAYS(PowerOutage.ONE_REWRITING, "always", 0, false, ALL),
    REWRITING_EVERYSEC(PowerOutage.ONE_REWRITING, "everysec", 0, false, UP_TO_THE_LAST_SECONDS),
    REWRITING_ON_DISK(PowerOutage.ONE_REWRITING, "everysec", 0, true, ALL),
    SLOW_EVERYSEC(PowerOutage.ONE_SLOW, "everysec", 0, false, NOT_PROMISED),
    MASTER_REPLICATED(PowerOutage.BOTH_THE_MASTER_RETURNS, "everysec", 1, false, UP_TO_THE_LAST_SECONDS),
    REPLICA_EVERYSEC(PowerOutage.BOTH_THE_REPLICA_TAKES_OVER, "everysec", 1, false, NOT_PROMISED),
    REPLICA_ALWAYS(PowerOutage.BOTH_THE_REPLICA_TAKES_OVER, "always", 1, false, NOT_PROMISED),
    REPLICA_ON_DISK(PowerOutage.BOTH_THE_REPLICA_TAKES_OVER, "everysec", 1, true, ALL),
    ONE_OF_TWO_REPLICAS(PowerOutage.THE_SLOWER_REPLICA_TAKES_OVER, "everysec", 1, false, NOT_PROMISED),
    BOTH_REPLICAS(PowerOutage.THE_SLOWER_REPLICA_TAKES_OVER, "everysec", 2, false, ALL),
    SENTINEL_REPLICATED(PowerOutage.SENTINEL_FAILOVER, "everysec", 1, false, ALL),
    SENTINEL_ON_DISK(PowerOutage.SENTINEL_FAILOVER, "everysec", 1, true, ALL),
    SENTINEL_SHORT_REPLICATED(PowerOutage.SENTINEL_SHORT, "everysec", 1, false, UP_TO_THE_LAST_SECONDS),
    SENTINEL_SHORT_ALWAYS(PowerOutage.SENTINEL_SHORT, "always", 0, false, ALL),
    SENTINEL_SHORT_ON_DISK(PowerOutage.SENTINEL_SHORT, "everysec", 0, true, ALL),
    SENTINEL_ALL_ALWAYS(PowerOutage.SENTINEL_ALL, "always", 0, false, ALL),
    SENTINEL_ALL_ON_DISK(PowerOutage.SENTINEL_ALL, "everysec", 1, true, ALL),
    NODE_EVERYSEC(PowerOutage.CLUSTER_NODE, "everysec", 0, false, UP_TO_THE_LAST_SECONDS),
    NODE_ALWAYS(PowerOutage.CLUSTER_NODE, "always", 0, false, ALL),
    NODE_ON_DISK(PowerOutage.CLUSTER_NODE, "everysec", 0, true, ALL),
    CLUSTER_REPLICATED(PowerOutage.CLUSTER_FAILOVER, "everysec", 1, false, ALL),
    CLUSTER_ON_DISK(PowerOutage.CLUSTER_FAILOVER, "everysec", 1, true, ALL),
    CLUSTER_ALL_ALWAYS(PowerOutage.CLUSTER_ALL, "always", 0, false, ALL),
    CLUSTER_ALL_ON_DISK(PowerOutage.CLUSTER_ALL, "everysec", 1, true, ALL);

    /** How much of it is there afterwards. */
    enum Kept {
        ALL("nothing"),
        UP_TO_THE_LAST_SECONDS("the last 3 s"),
        NOT_PROMISED("not promised");

        /** Redis begins an fsync each second, and waits for up to two for one that lasts. */
        private static final Duration LAST = Duration.ofSeconds(3);

        final String mayBeLost;

        Kept(String mayBeLost) {
            this.mayBeLost = mayBeLost;
        }

        /** Fails if more was lost. */
        void judge(PowerCutTally tally) {
            if (this == ALL) {
                assertThat(tally.lost()).as("confirmed and lost").isZero();
            } else if (this == UP_TO_THE_LAST_SECONDS) {
                assertThat(tally.oldest())
                        .as("since when a lost one was confirmed")
                        .isLessThan(LAST);
            }
        }
    }

    final PowerOutage outage;
    final String appendfsync;
    /** What the producers wait for. */
    final Durability durability;

    final Kept kept;

    PowerCutPromise(PowerOutage outage, String appendfsync, int replicas, boolean disk, Kept kept) {
        this.outage = outage;
        this.appendfsync = appendfsync;
        // With everysec a wait for the disk of a replica takes up to two seconds.
        durability = new Durability(replicas, disk, Duration.ofMillis(2500));
        this.kept = kept;
    }

    /** The options of the producers. */
    String options() {
        return (durability.replicas() > 0 ? "waitForReplicas=" + durability.replicas() + " " : "")
                + (durability.disk() ? "waitForDisk=true" : "");
    }
}
