// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * The addresses that a producer tells its consumers, in a file of the data folder that only their user can read.
 *
 * @param redis the address of Redis
 * @param database the URL of the database
 */
record Shared(String redis, String database) {

    private static Path file(Path folder) {
        return folder.resolve("producer");
    }

    /** @return to be closed when the producer stops: the file is of no use any more */
    static AutoCloseable publish(Path folder, String redis, String database) throws IOException {
        Path file = file(folder);
        Path written = Files.createTempFile(folder, "producer", null);
        Files.write(written, List.of(redis, database));
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        return () -> Files.deleteIfExists(file);
    }

    /** Removes the leftovers of a producer that was killed. */
    static void forget(Path folder) throws IOException {
        Files.deleteIfExists(file(folder));
    }

    static Shared read(Path folder) throws IOException {
        try {
            List<String> lines = Files.readAllLines(file(folder));
            return new Shared(lines.get(0), lines.get(1));
        } catch (NoSuchFileException e) {
            throw new ExampleException(
                    "No producer runs on " + folder + ": start it first, and wait until it says so", e);
        }
    }
}
