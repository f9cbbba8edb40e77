// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.List;

/** A queue that consists of several partitions. */
interface Partitioned {

    List<RedisDelayQueue> partitions();
}
