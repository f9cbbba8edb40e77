// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.server;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Subject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The queues of other languages that {@code rates} measures where {@code -Dbenchmark.contenders} names them, with what
 * this machine has of them.
 */
public final class OtherQueues {

    private static final List<String> NAMES = List.of(Subject.BULLMQ, Subject.BEANSTALKD);

    /** Where {@code package.json} and the script are, in the module. */
    private static final Path BULLMQ_SOURCE = Path.of("src", "main", "bullmq");

    private static final Path BULLMQ = Path.of("target", "bullmq");

    private OtherQueues() {}

    /** Those that an option names. */
    public static List<String> chosen(String option) {
        if (option.isEmpty()) {
            return List.of();
        }
        List<String> chosen =
                Arrays.stream(option.split(",")).map(String::trim).distinct().toList();
        if (!NAMES.containsAll(chosen)) {
            throw new IllegalArgumentException("-Dbenchmark.contenders is " + option + ": it must be some of " + NAMES);
        }
        return chosen;
    }

    /**
     * Looks for what they need, and installs BullMQ.
     *
     * @return name and versions
     * @throws IOException if one of them cannot be run here
     */
    public static Map<String, String> prepare(List<String> chosen) throws IOException, InterruptedException {
        Map<String, String> versions = new LinkedHashMap<>();
        for (String name : chosen) {
            versions.put(
                    name, name.equals(Subject.BULLMQ) ? installBullMq() : output(Path.of("."), beanstalkd(), "-v"));
        }
        return versions;
    }

    /** The path of the server. */
    public static String beanstalkd() throws IOException {
        return program("beanstalkd");
    }

    /** The command that measures BullMQ on a server. */
    public static List<String> bullMq(Environment environment) throws IOException {
        return List.of(
                program("node"),
                "--expose-gc",
                "--max-old-space-size=1024",
                BULLMQ.resolve("subject.mjs").toString(),
                environment.address(),
                Boolean.toString(environment.quick()));
    }

    private static String installBullMq() throws IOException, InterruptedException {
        Files.createDirectories(BULLMQ);
        for (String file : List.of("package.json", "subject.mjs", "mixes.mjs")) {
            Files.writeString(BULLMQ.resolve(file), Files.readString(BULLMQ_SOURCE.resolve(file)));
        }
        output(BULLMQ, program("npm"), "install", "--no-audit", "--no-fund", "--no-package-lock");
        String versions = "['bullmq', 'ioredis'].map(name => name + ' '"
                + " + JSON.parse(fs.readFileSync(`node_modules/${name}/package.json`)).version).join(', ')"
                + " + ', Node ' + process.version";
        return output(BULLMQ, program("node"), "-p", versions);
    }

    private static String program(String name) throws IOException {
        return ServerProcess.onPath(name)
                .orElseThrow(() ->
                        new IOException("There is no " + name + " on the PATH, which -Dbenchmark.contenders needs"))
                .toString();
    }

    private static String output(Path folder, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " in " + folder + " said: " + output);
        }
        return output;
    }
}
