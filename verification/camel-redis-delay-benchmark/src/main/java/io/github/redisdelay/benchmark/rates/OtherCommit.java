// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Figure;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The commit with which this one is compared, in a checkout of its own. */
final class OtherCommit {

    private OtherCommit() {}

    /**
     * Returns the class path of this JVM with the jars of another checkout in place of this one's. Other libraries are
     * the same.
     */
    static String classPath(String checkout) throws IOException {
        Path here = Path.of("").toAbsolutePath().getParent().getParent();
        Path there = Path.of(checkout).toAbsolutePath();
        List<Path> entries = new ArrayList<>(checkout.isEmpty() ? List.of() : jars(there));
        if (entries.stream().noneMatch(jar -> jar.toString().contains("-benchmark-"))) {
            throw new IllegalArgumentException("-Dbenchmark.before is \"" + checkout + "\": it must be the checkout of"
                    + " another commit, where the benchmark was built with -Pbenchmark -DskipTests -Dexec.skip=true");
        }
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(path -> !path.toAbsolutePath().startsWith(here))
                .forEach(entries::add);
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static List<Path> jars(Path checkout) throws IOException {
        try (Stream<Path> found = Files.find(checkout, 4, (path, attributes) -> path.toString()
                .matches(".*/target/camel-redis-delay[a-z-]*-\\d[^/]*(?<!-tests|-sources|-javadoc)\\.jar"))) {
            return found.sorted().toList();
        }
    }

    /** Adds for each round what was measured here in percent of what was measured there just before or after. */
    static void compare(String experiment, Figures figures) {
        List<Figure> all = figures.all().stream()
                .filter(figure -> figure.experiment().equals(experiment))
                .toList();
        for (Figure here : all) {
            all.stream()
                    .filter(there -> there.subject().equals(here.subject() + Subject.OF_OTHER))
                    .filter(there -> there.parameter().equals(here.parameter()) && there.round() == here.round())
                    .filter(there -> there.metric().equals(here.metric()) && there.value() > 0)
                    .forEach(there -> figures.add(
                            experiment,
                            here.subject(),
                            here.parameter(),
                            here.round(),
                            here.metric() + " of before",
                            100 * here.value() / there.value(),
                            "%"));
        }
    }
}
