// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.testkit.JavaCommand;
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

    private static final Map<String, List<Path>> JARS = new ConcurrentHashMap<>();

    private OldRedissons() {}

    /** Tells if elements of its queues have the format before 3.21.1. */
    static boolean hasOldElements(String release) {
        return RELEASES.indexOf(release) < RELEASES.indexOf("3.21.1");
    }

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
        List<String> options = new ArrayList<>();
        OPENED.forEach(name -> options.addAll(List.of("--add-opens", "java.base/" + name + "=ALL-UNNAMED")));
        options.addAll(List.of("--add-opens", "java.sql/java.sql=ALL-UNNAMED"));
        List<Path> jars = new ArrayList<>(List.of(home(main), home(Order.class)));
        jars.addAll(JARS.computeIfAbsent(release, OldRedissons::jars));
        String classPath = jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        return new ProcessBuilder(JavaCommand.of(options, classPath, main, arguments))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.to(log.toFile()))
                .start();
    }

    /** The folder or the jar of a class. */
    private static Path home(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
