// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import java.util.List;

/** A queue of one or several partitions. */
public interface Partitioned {

    List<Partition> partitions();
}
