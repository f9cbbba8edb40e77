// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.resolver.api.maven.Maven;

/** The releases of Redisson whose queues are migrated, and processes that have one of them and nothing else. */
final class OldRedissons {

    /** The formats changed between the first three, and between 3.20.1 and 3.21.1 in the elements of a queue. */
    static final List<String> RELEASES = List.of("3.12.5", "3.16.8", "3.20.1", "3.21.1", "3.52.0", "4.7.0");

    /** FST reads fields of these packages. */
    private static final List<String> OPENED =
            List.of("java.lang", "java.math", "java.util", "java.util.concurrent", "java.text", "java.net", "java.io");

    /** What starts a small JVM. */
    static final List<String> JAVA = List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1");

    private static final Map<String, List<Path>> JARS = new ConcurrentHashMap<>();

    private OldRedissons() {}

    /** The jars of a release and of what it needs, from the repositories that Maven's settings name. */
    private static List<Path> jars(String release) {
        File[] files = Maven.resolver()
                .resolve("org.redisson:redisson:" + release)
                .withTransitivity()
                .asFile();
        return Stream.of(files).map(File::toPath).toList();
    }

    /** Starts a process with a main class of this module. @param log gets what the process prints */
    static Process start(String release, Path log, Class<?> main, String... arguments)
            throws IOException, URISyntaxException {
        Path own =
                Path.of(main.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> command = new ArrayList<>(JAVA);
        OPENED.forEach(name -> command.addAll(List.of("--add-opens", "java.base/" + name + "=ALL-UNNAMED")));
        command.addAll(List.of("--add-opens", "java.sql/java.sql=ALL-UNNAMED", "-cp"));
        command.add(Stream.concat(Stream.of(own), JARS.computeIfAbsent(release, OldRedissons::jars).stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator)));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.to(log.toFile()))
                .start();
    }
}
