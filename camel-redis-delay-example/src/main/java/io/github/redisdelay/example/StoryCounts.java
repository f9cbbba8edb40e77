// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Counts of the ends of notifications, refunds and reminders, read from the database. */
final class StoryCounts {

    private final DataSource database;

    StoryCounts(DataSource database) {
        this.database = database;
    }

    long delivered() {
        return count("received_notification");
    }

    long givenUp() {
        return count("failed_notification");
    }

    /** @param finder {@code look} or {@code bank} */
    long refundsDone(String finder) {
        return count("refund WHERE state = 'DONE' AND found_by = '" + finder + "'");
    }

    long refundsBegun() {
        return count("refund WHERE state = 'PENDING'");
    }

    long remindersSent() {
        return count("reminder");
    }

    long eventsCancelled() {
        return count("event WHERE cancelled");
    }

    private long count(String from) {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT COUNT(*) FROM " + from)) {
            result.next();
            return result.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException("The database cannot be read", e);
        }
    }
}
