// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.stored;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.ScoredEntry;

/**
 * All keys under a prefix, as the commands that store them. A word has a character for each byte.
 *
 * <p>In a file each command is a line that {@code redis-cli} takes as well, and the prefix is {@code redis-delay}.
 */
record StoredKeys(List<List<String>> commands) {

    private static final String PREFIX = "redis-delay";
    /** Times from 2022 to 2093, in microseconds: those at which a test runs, and not those that it names itself. */
    private static final double FIRST_TIME = 1_650_000_000_000_000.0;

    private static final double LAST_TIME = 3_900_000_000_000_000.0;

    static StoredKeys dump(RedissonClient redis, String prefix) {
        List<List<String>> commands = new ArrayList<>();
        TreeSet<String> keys = new TreeSet<>();
        redis.getKeys().getKeysByPattern(prefix + ":*").forEach(keys::add);
        for (String key : keys) {
            Map<String, List<String>> sorted = new TreeMap<>();
            if (redis.getKeys().getType(key) == RType.MAP) {
                redis.<byte[], byte[]>getMap(key, ByteArrayCodec.INSTANCE)
                        .readAllMap()
                        .forEach((field, value) ->
                                sorted.put(latin(field), List.of("HSET", key, latin(field), latin(value))));
            } else {
                for (ScoredEntry<byte[]> entry : redis.<byte[]>getScoredSortedSet(key, ByteArrayCodec.INSTANCE)
                        .entryRange(0, -1)) {
                    String score = new BigDecimal(entry.getScore()).toPlainString();
                    sorted.put(latin(entry.getValue()), List.of("ZADD", key, score, latin(entry.getValue())));
                }
            }
            commands.addAll(sorted.values());
        }
        return new StoredKeys(commands).renamed(prefix, PREFIX);
    }

    private StoredKeys renamed(String from, String to) {
        return new StoredKeys(commands.stream()
                .map(command -> command.stream()
                        .map(word -> word.replace(from + ":", to + ":"))
                        .toList())
                .toList());
    }

    /** Stores all of it under another prefix. */
    void load(String address, String prefix) throws IOException {
        try (RedisSocket socket = RedisSocket.open(address)) {
            for (List<String> command : renamed(PREFIX, prefix).commands) {
                assertThat(socket.send(command)).as("%s", command).isEqualTo(":1");
            }
        }
    }

    static StoredKeys read(Path file) throws IOException {
        return new StoredKeys(
                Files.readAllLines(file).stream().map(StoredKeys::words).toList());
    }

    void write(Path file) throws IOException {
        Files.write(
                file,
                commands.stream()
                        .map(command -> String.join(
                                " ", command.stream().map(StoredKeys::quoted).toList()))
                        .toList());
    }

    private static String quoted(String word) {
        StringBuilder text = new StringBuilder("\"");
        for (char c : word.toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format("\\x%02x", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.append('"').toString();
    }

    private static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = null;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"') {
                if (word != null) {
                    words.add(word.toString());
                }
                word = word == null ? new StringBuilder() : null;
            } else if (word != null && c == '\\' && line.charAt(i + 1) == 'x') {
                word.append((char) Integer.parseInt(line.substring(i + 2, i + 4), 16));
                i += 3;
            } else if (word != null) {
                word.append(c == '\\' ? line.charAt(++i) : c);
            }
        }
        return words;
    }

    /** The same without what differs each time: times, random ids, the name of the host. */
    List<String> withoutChance() {
        return commands.stream()
                .map(command -> {
                    String key = command.get(1);
                    String[] parts = {command.get(2), command.get(3)};
                    if (key.endsWith(":sessions")) {
                        // 16 random bytes and a name. How many calls there were is chance, and how many at a time.
                        String name = parts[0].substring(16).replaceFirst("^([sd])[01]$", "$1");
                        parts = new String[] {"<client>" + name, "<call>"};
                    } else if (key.endsWith(":consumers")) {
                        parts = new String[] {"<consumer>", masked(parts[1].substring(0, 8)) + "<name>"};
                    } else if (key.endsWith(":waiters")) {
                        // The consumer that waits at the moment is chance; one does.
                        key = PREFIX + ":waiters";
                        parts[1] = parts[1].replaceFirst("^[^ ]+ " + PREFIX + ":wakeup:.+$", "<member>");
                    } else if (key.endsWith(":state") && !parts[1].startsWith("\0".repeat(16), 8)) {
                        // As long as the claim, so that what follows stays at a multiple of 8.
                        parts[1] = parts[1].substring(0, 8) + "<a random claim>" + parts[1].substring(24);
                    }
                    return command.get(0) + " " + key + " " + quoted(masked(parts[0])) + " " + quoted(masked(parts[1]));
                })
                .distinct()
                .sorted()
                .toList();
    }

    private static String masked(String bytes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes.length(); i++) {
            // Each time stands at a multiple of 8 bytes. Elsewhere a piece of one, with other bytes beside it, could
            // look like a time.
            if (i % 8 == 0 && isTime(bytes, i)) {
                text.append("<time>");
                i += 7;
            } else {
                text.append(bytes.charAt(i));
            }
        }
        return text.toString()
                .replaceAll("(?<![0-9])(1[7-9]|2[0-9]|3[0-8])[0-9]{14}(?![0-9])", "<time>")
                .replaceAll("\"time\":\"[^\"]+\"", "\"time\":\"<time>\"")
                .replaceAll("\"host\":\"[^\"]+\"", "\"host\":\"<host>\"");
    }

    /** Tells whether a little-endian double begins here that is such a time. */
    private static boolean isTime(String bytes, int at) {
        if (at + 8 > bytes.length()) {
            return false;
        }
        double number = ByteBuffer.wrap(bytes.substring(at, at + 8).getBytes(StandardCharsets.ISO_8859_1))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getDouble();
        return number == Math.rint(number) && number > FIRST_TIME && number < LAST_TIME;
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
