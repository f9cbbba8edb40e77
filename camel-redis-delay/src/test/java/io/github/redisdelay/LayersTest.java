// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The folders are the architecture: a lower floor never names a higher one, and classes do not know each other in circles. */
class LayersTest {

    static final String ROOT = "io.github.redisdelay.";

    /** From the lowest to the highest; packages of one line may name each other. */
    static final List<Set<String>> QUEUE = List.of(
            Set.of("queue", "queue.exception"),
            Set.of("queue.envelope", "queue.internal.format"),
            Set.of("queue.internal.redis"),
            Set.of("queue.internal.request"),
            Set.of("queue.internal.consume"),
            Set.of("queue.internal.command"),
            Set.of("queue.internal.partition"),
            Set.of("queue.client"));

    static final List<Set<String>> CAMEL = List.of(
            Set.of("camel.option"),
            Set.of("camel.connection", "camel.message", "camel.redelivery", "camel.thread"),
            Set.of("camel.monitor"),
            Set.of("camel.delivery"),
            Set.of("camel.producer"),
            Set.of("camel.imports"),
            Set.of("camel"));

    /** Names and values that Camel's users write: each package of the Camel layer may use them. */
    private static final Set<String> FOR_ALL = Set.of(
            "RedisDelayConstants", "RedisDelayOperation", "RedisDelayHeaderFilterStrategy", "BatchScheduleException");

    /** The circles of three and more classes that may be, each with its reason. */
    private static final Map<Set<String>, String> CIRCLES = Map.of(
            Set.of("DelayQueue", "DelayQueueReceiver", "Delivery", "DeliveryHandler", "MessageGroup"),
            "the public interfaces: a queue gives deliveries and groups, which name their queue",
            Set.of("Envelope", "EnvelopeReader", "EnvelopeWriter"),
            "one value and the two ways between it and its bytes",
            Set.of(
                    "RedisDelayComponent",
                    "RedisDelayComponentConfigurer",
                    "RedisDelayConsumer",
                    "RedisDelayEndpoint",
                    "RedisDelayPollingConsumer",
                    "RedisDelayProducer"),
            "Camel's contract: a component makes endpoints, an endpoint makes the others, and each knows who made it;"
                    + " the generated configurer sets the component's options");

    private static final int MAX_PARAMETERS = 8;

    /** A class of a queue that names more types does the work of several. */
    private static final int MAX_NAMED = 29;

    private static final int MAX_API_TYPES = 40;

    private static final Path SOURCES = Path.of("src/main/java/io/github/redisdelay");
    /** An import, or a link to a class that is not imported. */
    private static final Pattern LINK = Pattern.compile(
            "(?:import |import static |@link |@see )io\\.github\\.redisdelay\\.((?:[a-z]+\\.)*[a-z]+)\\.([A-Z]\\w*)");

    private static JavaClasses all;
    /** The top-level classes, each with those that it names. */
    private static final Map<JavaClass, Set<JavaClass>> NAMED = new HashMap<>();

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.github.redisdelay.queue", "io.github.redisdelay.camel");
        for (JavaClass type : all) {
            Set<JavaClass> named = NAMED.computeIfAbsent(top(type), any -> new HashSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> top(dependency.getTargetClass().getBaseComponentType()))
                    .filter(target -> target.getName().startsWith(ROOT) && !target.equals(top(type)))
                    .forEach(named::add);
        }
    }

    private static JavaClass top(JavaClass type) {
        return type.getEnclosingClass().map(LayersTest::top).orElse(type);
    }

    private static String packageOf(JavaClass type) {
        return type.getPackageName().substring(ROOT.length());
    }

    private static int floor(List<Set<String>> floors, JavaClass type) {
        return floor(floors, packageOf(type));
    }

    private static int floor(List<Set<String>> floors, String of) {
        for (int i = 0; i < floors.size(); i++) {
            if (floors.get(i).contains(of)) {
                return i;
            }
        }
        return -1;
    }

    @Test
    void should_have_a_floor_for_each_package() {
        assertThat(NAMED.keySet().stream().filter(type -> floor(QUEUE, type) < 0 && floor(CAMEL, type) < 0))
                .isEmpty();
    }

    @Test
    void should_name_no_higher_floor() {
        List<String> upwards = new ArrayList<>();
        NAMED.forEach((type, targets) -> {
            for (List<Set<String>> floors : List.of(QUEUE, CAMEL)) {
                int own = floor(floors, type);
                targets.stream()
                        .filter(target -> own >= 0 && floor(floors, target) > own)
                        .filter(target ->
                                !(packageOf(target).equals("camel") && FOR_ALL.contains(target.getSimpleName())))
                        .map(target -> packageOf(type) + "." + type.getSimpleName() + " -> " + packageOf(target) + "."
                                + target.getSimpleName())
                        .forEach(upwards::add);
            }
        });
        assertThat(upwards).isEmpty();
    }

    /** The bytecode has no links of Javadoc. A {@code package-info} may show the way up. */
    @Test
    void should_not_link_to_a_higher_floor() throws IOException {
        List<String> upwards = new ArrayList<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("package-info.java"))
                    .toList()) {
                String own = SOURCES.relativize(file.getParent()).toString().replace(File.separatorChar, '.');
                LINK.matcher(Files.readString(file))
                        .results()
                        .filter(link -> Stream.of(QUEUE, CAMEL)
                                .anyMatch(floors ->
                                        floor(floors, own) >= 0 && floor(floors, link.group(1)) > floor(floors, own)))
                        .filter(link -> !(link.group(1).equals("camel") && FOR_ALL.contains(link.group(2))))
                        .map(link -> SOURCES.relativize(file) + ": " + link.group())
                        .forEach(upwards::add);
            }
        }
        assertThat(upwards).isEmpty();
    }

    @Test
    void should_have_no_circles_of_classes() {
        Collection<Set<String>> circles = new TreeMap<String, Set<String>>(circles().stream()
                        .filter(circle -> circle.size() > 2)
                        .map(circle -> circle.stream()
                                .map(JavaClass::getSimpleName)
                                .collect(Collectors.toCollection(TreeSet::new)))
                        .filter(circle -> CIRCLES.keySet().stream().noneMatch(allowed -> allowed.containsAll(circle)))
                        .collect(Collectors.toMap(Set::toString, circle -> circle)))
                .values();
        assertThat(circles).isEmpty();
    }

    /** The strongly connected components of the classes, by Tarjan's algorithm (SIAM Journal on Computing 1 (2), 1972). */
    private static List<Set<JavaClass>> circles() {
        List<Set<JavaClass>> found = new ArrayList<>();
        Map<JavaClass, int[]> seen = new HashMap<>(); // number, lowest number that can be reached
        Deque<JavaClass> path = new ArrayDeque<>();
        NAMED.keySet().forEach(type -> visit(type, seen, path, found));
        return found;
    }

    private static void visit(
            JavaClass type, Map<JavaClass, int[]> seen, Deque<JavaClass> path, List<Set<JavaClass>> found) {
        if (seen.containsKey(type)) {
            return;
        }
        int[] own = {seen.size(), seen.size()};
        seen.put(type, own);
        path.push(type);
        for (JavaClass target : NAMED.getOrDefault(type, Set.of())) {
            visit(target, seen, path, found);
            if (path.contains(target)) {
                own[1] = Math.min(own[1], seen.get(target)[1]);
            }
        }
        if (own[0] == own[1]) {
            Set<JavaClass> circle = new HashSet<>();
            do {
                circle.add(path.peek());
            } while (!path.pop().equals(type));
            found.add(circle);
        }
    }

    @Test
    void should_keep_what_is_internal_to_the_queue_layer() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.github.redisdelay.queue..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..internal..")
                .check(all);
        List<String> shown = new ArrayList<>();
        for (JavaClass type : all) {
            if (packageOf(type).startsWith("queue") && !packageOf(type).contains("internal") && isVisible(type)) {
                type.getCodeUnits().stream()
                        .filter(LayersTest::isVisible)
                        .filter(unit -> types(unit)
                                .anyMatch(used -> used.getPackageName().contains(".internal.")))
                        .map(JavaCodeUnit::getFullName)
                        .forEach(shown::add);
            }
        }
        assertThat(shown)
                .as("methods of the public API that name an internal type")
                .isEmpty();
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(LayersTest::isVisible).orElse(true);
    }

    private static boolean isVisible(JavaCodeUnit unit) {
        return unit.getModifiers().contains(JavaModifier.PUBLIC)
                || unit.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaClass> types(JavaCodeUnit unit) {
        return Stream.concat(unit.getRawParameterTypes().stream(), Stream.of(unit.getRawReturnType()));
    }

    /** Records that only carry figures or settings are read by their components' names: they may have more. */
    @Test
    void should_have_no_constructor_with_too_many_parameters() {
        assertThat(all.stream()
                        .filter(type -> !type.isRecord())
                        .flatMap(type -> type.getConstructors().stream())
                        .filter(made -> made.getRawParameterTypes().size() > MAX_PARAMETERS)
                        .map(made -> made.getFullName()))
                .isEmpty();
    }

    @Test
    void should_name_few_types_in_each_class_of_a_queue() {
        assertThat(NAMED.entrySet().stream()
                        .filter(each -> packageOf(each.getKey()).matches("queue\\.internal\\.(command|partition)"))
                        .filter(each -> each.getValue().size() > MAX_NAMED)
                        .map(each -> each.getKey().getSimpleName() + " names "
                                + each.getValue().size()))
                .isEmpty();
    }

    @Test
    void should_have_a_small_api_of_the_queue_layer() {
        assertThat(NAMED.keySet().stream()
                        .filter(type -> packageOf(type).equals("queue") && isVisible(type))
                        .map(JavaClass::getSimpleName))
                .contains("DelayQueue", "QueueAdmin")
                .hasSizeLessThanOrEqualTo(MAX_API_TYPES);
    }
}
