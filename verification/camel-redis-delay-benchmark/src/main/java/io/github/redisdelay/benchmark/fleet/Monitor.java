// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts by name the commands that clients send to a Redis server, with {@code MONITOR}; what scripts call is left out.
 * For a server that has little to do: {@code MONITOR} costs as much as the commands.
 */
final class Monitor implements AutoCloseable {

    /** {@code +1700000000.123456 [0 127.0.0.1:50000] "PING"}; a script's commands have {@code lua} for an address. */
    private static final Pattern LINE = Pattern.compile("^\\+?[0-9.]+ \\[[0-9]+ (\\S+)\\] \"([^\"]+)\".*");

    private final Socket socket;
    private final Thread reader;
    private final Map<String, Long> counts = new TreeMap<>(); // guarded by itself

    Monitor(String address) throws IOException {
        URI uri = URI.create(address);
        socket = new Socket(uri.getHost(), uri.getPort());
        socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
        reader = new Thread(this::read, "redis-monitor");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher command = LINE.matcher(line);
                if (command.matches() && !command.group(1).equals("lua")) {
                    synchronized (counts) {
                        counts.merge(command.group(2).toUpperCase(), 1L, Long::sum);
                    }
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    /** The number of times that each command came so far. */
    Map<String, Long> counts() {
        synchronized (counts) {
            return Map.copyOf(counts);
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        socket.close();
        reader.join();
    }
}
