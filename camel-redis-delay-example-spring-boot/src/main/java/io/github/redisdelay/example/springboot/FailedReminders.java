// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.apache.camel.Consume;
import org.apache.camel.Header;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Moves reminders that have failed for good from the dead letters into a table. */
@Component
public class FailedReminders {

    private final JdbcTemplate database;

    FailedReminders(JdbcTemplate database) {
        this.database = database;
    }

    /** When it returns, the dead letter is removed. It may come twice: the key keeps one row. */
    @Consume("redis-delay:reminders?state=dead")
    public void write(
            String order,
            @Header("CamelRedisDelayDeadLetterId") String id,
            @Header("CamelRedisDelayDeadLetterReason") String reason,
            @Header("CamelRedisDelayFailureMessage") String failure) {
        database.update("merge into failed_reminder values (?, ?, ?, ?)", id, order, reason, failure);
    }
}
