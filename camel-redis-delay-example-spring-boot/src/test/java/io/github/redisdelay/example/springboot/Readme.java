// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The blocks of this module's README, in their order. */
final class Readme {

    private static final Pattern BLOCK = Pattern.compile("```(\\w+)\n(.*?)\n```", Pattern.DOTALL);
    private static final Pattern WORD = Pattern.compile("'[^']*'|\\S+");

    private Readme() {}

    /** @param kind {@code sh} for commands, else what they answer: {@code json}, {@code text}, or {@code log} lines */
    record Block(String kind, String text) {}

    static List<Block> blocks() throws IOException {
        return BLOCK.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(block -> new Block(block.group(1), block.group(2)))
                .toList();
    }

    /**
     * A {@code curl}.
     *
     * @param shown which lines of its answer are seen: those that a {@code grep -E} behind it lets through
     */
    record Curl(HttpRequest request, Predicate<String> shown) {

        static Curl of(String command, int port) {
            String[] piped = command.split(" \\| grep -E ");
            List<String> words = new ArrayList<>(WORD.matcher(piped[0])
                    .results()
                    .map(word -> word.group().replace("'", ""))
                    .toList());
            HttpRequest.Builder request = HttpRequest.newBuilder();
            String method = "GET";
            String body = "";
            words.remove(0);
            while (!words.isEmpty()) {
                String word = words.remove(0);
                switch (word) {
                    case "-s" -> {
                        // Shows no progress: there is none here.
                    }
                    case "-X" -> method = words.remove(0);
                    case "-H" -> request.headers(words.remove(0).split(": "));
                    case "-d" -> {
                        method = "POST";
                        body = words.remove(0);
                    }
                    default -> request.uri(URI.create("http://" + word.replace(":8080", ":" + port)));
                }
            }
            return new Curl(
                    request.method(method, BodyPublishers.ofString(body)).build(),
                    piped.length == 1
                            ? line -> true
                            : Pattern.compile(piped[1].replace("'", "")).asPredicate());
        }
    }
}
