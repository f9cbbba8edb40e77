// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Collectors;

/** A master and a replica of a test's own; the replica can be made to follow it no more, and to follow it again. */
public final class MasterAndReplica implements AutoCloseable {

    public final RedisServer master;
    public final RedisServer replica;
    private final String replicaPid;

    /** Returns when the replica has all that the master has. */
    public MasterAndReplica() {
        master = RedisServer.embedded("repl-diskless-sync-delay 0");
        replica = RedisServer.embedded("repl-diskless-sync-delay 0");
        replicaPid = info(replica, "server")
                .lines()
                .filter(line -> line.startsWith("process_id:"))
                .findFirst()
                .orElseThrow()
                .substring("process_id:".length())
                .trim();
        connect();
    }

    /** The replica follows the master. */
    public void connect() {
        ask(replica, "REPLICAOF " + master.host() + " " + master.port(), "+OK");
        // Only then does the master wait for it, too.
        await().atMost(Duration.ofSeconds(60))
                .until(() -> info(replica, "replication").contains("master_link_status:up")
                        && info(master, "replication").contains("state=online"));
    }

    /** The master has no replica any more. */
    public void disconnect() {
        ask(replica, "REPLICAOF NO ONE", "+OK");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> info(master, "replication").contains("connected_slaves:0"));
    }

    /** The replica stands still: it is connected, and receives nothing. */
    public void freeze() {
        signal("STOP");
    }

    /** It goes on. */
    public void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        String command = "kill -" + name + " " + replicaPid;
        try {
            assertThat(new ProcessBuilder("sh", "-c", command).start().waitFor())
                    .as(command)
                    .isZero();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The number of times that a server has executed a command. */
    public static long calls(RedisServer server, String command) {
        String name = "cmdstat_" + command + ":calls=";
        String stats = info(server, "commandstats");
        int at = stats.indexOf(name);
        return at < 0 ? 0 : Long.parseLong(stats.substring(at + name.length(), stats.indexOf(',', at)));
    }

    /** Tells whether a server has a command. */
    public static boolean knows(RedisServer server, String command) {
        return send(server, "COMMAND INFO " + command).contains(command);
    }

    /** Sends a command whose answer is one line. */
    public static void ask(RedisServer server, String command, String answer) {
        assertThat(send(server, command).lines().findFirst()).as(command).contains(answer);
    }

    public static String info(RedisServer server, String section) {
        return send(server, "INFO " + section);
    }

    private static String send(RedisServer server, String command) {
        try (Socket socket = new Socket(server.host(), server.port())) {
            // It closes the connection behind the answer.
            socket.getOutputStream().write((command + "\r\nQUIT\r\n").getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .lines()
                    .collect(Collectors.joining("\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        replica.close();
        master.close();
    }
}
