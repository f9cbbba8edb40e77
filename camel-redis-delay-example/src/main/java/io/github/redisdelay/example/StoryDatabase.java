// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * The H2 database of the stories about notifications, refunds and reminders, in a file. {@code schema.sql} says what is in it.
 */
final class StoryDatabase implements AutoCloseable {

    static final String USER = "sa";

    private final JdbcConnectionPool pool;

    private StoryDatabase(JdbcConnectionPool pool) {
        this.pool = pool;
    }

    /** Opens the database of last time, or makes a new one. Only one process can have it open. */
    static StoryDatabase open(Path folder) {
        StoryDatabase database = new StoryDatabase(JdbcConnectionPool.create(url(folder), USER, ""));
        try (Connection connection = database.pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(schema());
            return database;
        } catch (SQLException e) {
            database.pool.dispose();
            throw new ExampleException("The database in " + folder + " cannot be opened: " + e.getMessage(), e);
        }
    }

    /**
     * Closed by us, and not by a hook of H2's that is faster than Camel at a Ctrl-C. Each commit is written at once: what
     * Redis was told to forget must be here after a kill.
     */
    static String url(Path folder) {
        return "jdbc:h2:file:" + folder.resolve("stories") + ";DB_CLOSE_ON_EXIT=FALSE;WRITE_DELAY=0";
    }

    private static String schema() {
        try (InputStream schema = StoryDatabase.class.getResourceAsStream("/sql/schema.sql")) {
            return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    DataSource dataSource() {
        return pool;
    }

    @Override
    public void close() {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SHUTDOWN");
        } catch (SQLException e) {
            throw new IllegalStateException("The database could not be closed", e);
        } finally {
            pool.dispose();
        }
    }
}
