// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;

/** What the vectors of queues have in common: each is a short history that begins without any key. */
abstract class RecordedQueueIT extends RecordedIT {

    static final Duration MINUTE = Duration.ofMinutes(1);
    static final Duration HOUR = Duration.ofHours(1);
    static final DueTime IN_AN_HOUR = DueTime.after(HOUR);
    static final DueTime NOW = DueTime.now();
    static final Settlement DEAD_LETTER = new Settlement.DeadLetter(bytes("{\"reason\":\"failed\"}"));

    static ScheduleRequest message(String id, DuplicatePolicy policy) {
        return message(id, IN_AN_HOUR).withOnDuplicate(policy);
    }

    static ScheduleRequest grouped(String id, String group) {
        return message(id, NOW).withGroup(group);
    }

    static Settlement retry(Duration delay) {
        return new Settlement.Retry(delay, bytes("{\"message\":\"no answer\"}"));
    }

    /** Schedules messages that are due, and claims them all. */
    static List<ClaimedDelivery> claimed(RecordedClient client, String... ids) {
        client.schedule(Stream.of(ids).map(id -> message(id, NOW)).toArray(ScheduleRequest[]::new));
        client.pass(Duration.ofSeconds(1));
        List<ClaimedDelivery> claimed = client.claim(10);
        assertThat(claimed).extracting(ClaimedDelivery::id).containsExactly(ids);
        return claimed;
    }

    @BeforeAll
    static void start() throws IOException {
        start(LuaScript.values());
    }
}
