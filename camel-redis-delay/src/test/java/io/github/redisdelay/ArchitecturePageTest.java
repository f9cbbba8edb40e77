// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/architecture.md} true: its length and its pictures. On it, in {@code docs/protocol.md} and in
 * {@code CONTRIBUTING.md}: the names of classes and scripts.
 */
class ArchitecturePageTest {

    private static final Path PAGE = Path.of("../docs/architecture.md");
    private static final Path PROTOCOL = Path.of("../docs/protocol.md");
    private static final Path CONTRIBUTING = Path.of("../CONTRIBUTING.md");
    private static final Path TESTS = Path.of("src/test/java");
    private static final Path EXTENSIONS = Path.of("../extensions");
    private static final Path VERIFICATION = Path.of("../verification");
    private static final Path EXAMPLE = Path.of("../camel-redis-delay-example-spring-boot/src");
    private static final Path UNPAID_ORDERS = Path.of("../camel-redis-delay-example-unpaid-orders/src");
    private static final Path SCRIPTS = Path.of("src/main/resources/io/github/redisdelay/queue/lua");

    /** A class, or a member of one, in backticks. */
    private static final Pattern QUOTED = Pattern.compile("`([A-Z]\\w*[a-z]\\w*(?:\\.\\w+)?)`");
    /** A class in the text of a picture: a name of at least two words. */
    private static final Pattern NAME = Pattern.compile("\\b[A-Z][a-z]+[A-Z]\\w*");

    private static final Pattern SCRIPT = Pattern.compile("\\b[a-z_]+\\.lua\\b");
    private static final Pattern BLOCK = Pattern.compile("\n```\n(.*?)```\n", Pattern.DOTALL);
    private static final Pattern COLUMNS = Pattern.compile("\\s{2,}");

    /** Words that look like a class and are none. */
    private static final Set<String> NO_CLASSES = Set.of("Camel", "CamelRedisDelayDeclared");

    private static String page;
    private static String protocol;
    /** The lines of the pictures: those of the floors, then those of the ways. */
    private static List<String> floors;

    private static List<String> ways;
    private static List<JavaClass> classes;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(PAGE);
        protocol = Files.readString(PROTOCOL);
        floors = pictures("## Floors", "## Two ways");
        ways = pictures("## Two ways", "## States");
        classes = new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages("io.github.redisdelay.queue", "io.github.redisdelay.camel")
                        .stream()
                        .toList();
    }

    private static List<String> pictures(String from, String to) {
        String section = page.substring(page.indexOf(from), page.indexOf(to));
        return found(BLOCK, section)
                .flatMap(block -> block.group(1).lines())
                .map(String::strip)
                .toList();
    }

    private static Stream<MatchResult> found(Pattern pattern, String text) {
        return pattern.matcher(text).results();
    }

    private static String packageOf(JavaClass type) {
        return type.getPackageName().substring(LayersTest.ROOT.length());
    }

    private static List<String> columns(String line) {
        return Arrays.asList(COLUMNS.split(line));
    }

    @Test
    void should_be_read_in_one_sitting() {
        assertThat(page.length()).as("characters of %s", PAGE).isLessThanOrEqualTo(15_000);
    }

    @Test
    void should_show_the_packages_in_the_order_of_their_floors() {
        List<String> shown = floors.stream()
                .map(line -> columns(line).get(0))
                .filter(column ->
                        classes.stream().anyMatch(type -> packageOf(type).equals(column)))
                .toList();
        List<String> fromTheTop = new ArrayList<>();
        for (List<Set<String>> layer : List.of(LayersTest.CAMEL, LayersTest.QUEUE)) {
            for (int floor = layer.size() - 1; floor >= 0; floor--) {
                Set<String> packages = layer.get(floor);
                int at = fromTheTop.size();
                // Packages of one floor stand in any order.
                List<String> own =
                        shown.subList(Math.min(at, shown.size()), Math.min(at + packages.size(), shown.size()));
                fromTheTop.addAll(packages.equals(Set.copyOf(own)) ? own : packages);
            }
        }
        assertThat(shown).isEqualTo(fromTheTop);
    }

    @Test
    void should_show_classes_and_scripts_beside_their_package() {
        List<String> wrong = new ArrayList<>();
        floors.forEach(line -> {
            List<String> columns = columns(line);
            if (columns.size() > 1) {
                misplaced(columns.get(0), columns.get(1)).forEach(wrong::add);
            }
        });
        ways.stream()
                .filter(line -> columns(line).size() > 1 && !line.startsWith("back:"))
                .forEach(line -> {
                    List<String> columns = columns(line);
                    misplaced(columns.get(1), columns.get(0)).forEach(wrong::add);
                });
        assertThat(wrong).isEmpty();
        assertThat(ways).as("the stops").hasSizeGreaterThan(30);
    }

    private static Stream<String> misplaced(String where, String names) {
        return Stream.of(names.split(" "))
                .filter(name -> !name.equals("…"))
                .filter(name -> name.endsWith(".lua")
                        ? !Files.exists(
                                SCRIPTS.resolve(where.replace("queue/lua/", "")).resolve(name))
                        : classes.stream()
                                .noneMatch(type -> type.getSimpleName().equals(name)
                                        && packageOf(type).equals(where)))
                .map(name -> where + ": " + name);
    }

    @Test
    void should_name_classes_that_exist() throws IOException {
        Stream<String> inPictures = Stream.concat(floors.stream(), ways.stream())
                .flatMap(line -> found(NAME, line))
                .map(MatchResult::group);
        Set<String> tests = files(TESTS);
        Stream<String> inText = found(QUOTED, page + protocol).map(match -> match.group(1));
        assertThat(Stream.concat(inPictures, inText)
                        .distinct()
                        .filter(name -> !NO_CLASSES.contains(name) && !exists(name) && !tests.contains(name + ".java")))
                .isEmpty();
    }

    private static boolean exists(String name) {
        String[] parts = name.split("\\.");
        return classes.stream()
                .filter(type -> type.getSimpleName().equals(parts[0]))
                .anyMatch(type -> parts.length == 1
                        || type.getMembers().stream().map(JavaMember::getName).anyMatch(parts[1]::equals)
                        || classes.stream()
                                .anyMatch(nested -> nested.getName().equals(type.getName() + "$" + parts[1])));
    }

    @Test
    void should_name_scripts_that_exist() throws IOException {
        Set<String> scripts = files(SCRIPTS);
        scripts.addAll(files(EXTENSIONS));
        assertThat(found(SCRIPT, page + protocol + Files.readString(CONTRIBUTING))
                        .map(MatchResult::group)
                        .distinct()
                        .filter(name -> !scripts.contains(name)))
                .isEmpty();
    }

    @Test
    void should_tell_contributors_of_classes_that_exist() throws IOException {
        Set<String> others = files(TESTS);
        others.addAll(files(EXTENSIONS));
        others.addAll(files(EXAMPLE));
        others.addAll(files(UNPAID_ORDERS));
        others.addAll(files(VERIFICATION));
        assertThat(found(QUOTED, Files.readString(CONTRIBUTING))
                        .map(match -> match.group(1))
                        .distinct()
                        .filter(name -> !exists(name) && !others.contains(name + ".java")))
                .isEmpty();
    }

    private static Set<String> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        }
    }
}
