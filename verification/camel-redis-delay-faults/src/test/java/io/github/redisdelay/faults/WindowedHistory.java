// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The history of one client in files, one for each window of time in which messages were made, so that a run of hours
 * can be judged window by window in little memory. All that happens to a message is in the file of its window, which
 * its id begins with, as {@code 12-}. Thread-safe.
 */
final class WindowedHistory implements AutoCloseable {

    static final String SUFFIX = ".history";

    private final Path directory;
    private final String source;

    private final Map<Integer, History> open = new HashMap<>(); // guarded by this

    /** @param directory of the whole run; each window is a directory in it */
    WindowedHistory(Path directory, String source) {
        this.directory = directory;
        this.source = source;
    }

    /** The beginning of the ids of a window's messages. */
    static String prefix(int window) {
        return window + "-";
    }

    /** Where to write down what happens to a message. It stays open until the end, as others may be about to write there. */
    synchronized History of(String id) {
        int window = Integer.parseInt(id.substring(0, id.indexOf('-')));
        History history = open.get(window);
        if (history == null) {
            Path file = directory(directory, window).resolve(source + SUFFIX);
            try {
                Files.createDirectories(file.getParent());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            history = History.appendingTo(file, source);
            open.put(window, history);
        }
        return history;
    }

    private static Path directory(Path directory, int window) {
        return directory.resolve("window-" + window);
    }

    /** The events of all clients about the messages of a window. */
    static List<Event> read(Path directory, int window) {
        Path from = directory(directory, window);
        if (!Files.exists(from)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(from)) {
            List<Event> all = new ArrayList<>();
            files.forEach(file -> all.addAll(History.read(file)));
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tells whether a client has written anything, about any message. */
    static boolean hasBegun(Path directory, String source) {
        if (!Files.exists(directory)) {
            return false;
        }
        try (Stream<Path> windows = Files.list(directory)) {
            return windows.anyMatch(window -> Files.exists(window.resolve(source + SUFFIX)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() {
        open.values().forEach(History::close);
        open.clear();
    }
}
