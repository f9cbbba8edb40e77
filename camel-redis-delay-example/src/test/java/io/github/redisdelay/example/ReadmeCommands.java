// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The shell commands of this module's README. */
final class ReadmeCommands {

    private static final Path ROOT = Path.of("..");
    private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LOG = Pattern.compile("```log\n(.*?)```", Pattern.DOTALL);
    private static final Pattern MAIN_CLASS = Pattern.compile("<exec.mainClass>(.*)</exec.mainClass>");
    private static final Pattern WORD = Pattern.compile("'[^']*'|\\S+");

    private ReadmeCommands() {}

    private static List<String> lines() throws IOException {
        return lines(BLOCK);
    }

    private static List<String> lines(Pattern block) throws IOException {
        return block.matcher(Files.readString(Path.of("README.md")))
                .results()
                .flatMap(found -> found.group(1).lines())
                .toList();
    }

    /** The lines that the first command prints, but for numbers and folders. */
    static List<String> output() throws IOException {
        return lines(LOG).stream().map(ReadmeCommands::pattern).toList();
    }

    /** A line of the output, without its times, numbers and folders. A time may have a fraction of a second or none. */
    static String pattern(String line) {
        return line.replaceAll("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", "time")
                .replaceAll("\\S*/data|\\S*/example-data", "folder")
                .replaceAll("\\d+", "0");
    }

    /** The class that the first command starts: that of {@code exec:java}, in this module. */
    static String mainClass() throws IOException {
        assertThat(lines().get(0)).startsWith("mvn -q -pl camel-redis-delay-example -am process-classes exec:java");
        // -am starts it in all modules, also in the parent's parent.
        assertThat(Files.readString(ROOT.resolve("camel-redis-delay-bom/pom.xml")))
                .contains("<exec.skip>true</exec.skip>", "<exec.mainClass>");
        Matcher mainClass = MAIN_CLASS.matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(mainClass.find()).isTrue();
        return mainClass.group(1);
    }

    /** The request of each {@code curl}, to a shop on another port. */
    static List<HttpRequest> curls(int port) throws IOException {
        return lines().stream()
                .filter(line -> line.startsWith("curl "))
                .map(line -> curl(line.replace("localhost:8080", "localhost:" + port)))
                .toList();
    }

    private static HttpRequest curl(String line) {
        HttpRequest.Builder request = HttpRequest.newBuilder();
        String method = "GET";
        String body = "";
        List<String> words = new ArrayList<>(WORD.matcher(line)
                .results()
                .map(word -> word.group().replace("'", ""))
                .toList());
        words.remove(0);
        while (!words.isEmpty()) {
            String word = words.remove(0);
            switch (word) {
                case "-X" -> method = words.remove(0);
                case "-H" -> {
                    String[] header = words.remove(0).split(": ");
                    request.header(header[0], header[1]);
                }
                case "-d" -> {
                    body = words.remove(0);
                    method = method.equals("GET") ? "POST" : method;
                }
                default -> request.uri(URI.create("http://" + word));
            }
        }
        return request.method(method, BodyPublishers.ofString(body)).build();
    }
}
