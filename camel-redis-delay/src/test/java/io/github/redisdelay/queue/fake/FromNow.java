// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueAdmin;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** An outlook that begins at the Redis server's time. */
public final class FromNow {

    private FromNow() {}

    public static CompletableFuture<Outlook> outlook(QueueAdmin queue, Duration step, int steps) {
        return queue.outlook(List.of(0L, 1L))
                .thenCompose(now -> queue.outlook(Outlook.bounds(now.timeMicros(), step, steps)));
    }
}
