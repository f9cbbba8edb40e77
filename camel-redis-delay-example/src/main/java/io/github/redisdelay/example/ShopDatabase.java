// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.tools.Server;
import org.springframework.jdbc.core.JdbcTemplate;

/** The H2 database of the shop, in a file. {@code schema.sql} says what is in it. */
final class ShopDatabase implements AutoCloseable {

    static final String USER = "sa";

    static {
        // Read once, by the first class of H2: what share() starts listens to this machine alone.
        System.setProperty("h2.bindAddress", "127.0.0.1");
    }

    private final Path folder;
    private final JdbcConnectionPool pool;
    private final JdbcTemplate sql;
    private Server server;

    /** @param folder null if another process has the database open */
    private ShopDatabase(Path folder, String url) {
        this.folder = folder;
        pool = JdbcConnectionPool.create(url, USER, "");
        sql = new JdbcTemplate(pool);
    }

    /** Opens the database of last time, or makes a new one. Only one process can have it open. */
    static ShopDatabase open(Path folder) {
        ShopDatabase database = new ShopDatabase(folder, url(folder));
        try {
            database.sql.execute(schema());
            return database;
        } catch (RuntimeException e) {
            database.pool.dispose();
            throw new ExampleException("The database in " + folder + " cannot be opened: " + e.getMessage(), e);
        }
    }

    /** @param url what {@link #share()} said in the process that has opened the database */
    static ShopDatabase connect(String url) {
        return new ShopDatabase(null, url);
    }

    /**
     * Closed by us, and not by a hook of H2's that is faster than Camel at a Ctrl-C. Each commit is written at once:
     * what Redis was told to forget must be here after a kill.
     */
    static String url(Path folder) {
        return "jdbc:h2:file:" + file(folder) + ";DB_CLOSE_ON_EXIT=FALSE;WRITE_DELAY=0";
    }

    private static Path file(Path folder) {
        return folder.resolve("shop");
    }

    /** Lets other processes of this machine use the database. Only those that know the URL are let in. */
    String share() throws SQLException {
        String secret = UUID.randomUUID().toString();
        server = Server.createTcpServer(
                        "-tcpPort", "0", "-key", secret, file(folder).toString())
                .start();
        return "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/" + secret;
    }

    private static String schema() {
        try (InputStream schema = ShopDatabase.class.getResourceAsStream("/sql/schema.sql")) {
            return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    DataSource dataSource() {
        return pool;
    }

    /** The number of rows. @param from a table, and which of its rows */
    long count(String from) {
        return sql.queryForObject("SELECT COUNT(*) FROM " + from, Long.class);
    }

    @Override
    public void close() {
        try {
            if (server != null) {
                server.stop();
            }
            if (folder != null) {
                sql.execute("SHUTDOWN");
            }
        } finally {
            pool.dispose();
        }
    }
}
