// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The modules that a release publishes, and the files that make it. */
class PublishedTest {

    private static final String BOM = "camel-redis-delay-bom";
    private static final String MODULE_NAME = "<module.name>(.*?)</module.name>";

    /** The POMs of all modules, by the folder from the root. */
    private static Map<String, String> poms;

    @BeforeAll
    static void readPoms() throws IOException {
        poms = new TreeMap<>();
        for (String module : all("<module>(.*?)</module>", Files.readString(Block.ROOT.resolve("pom.xml")))) {
            poms.put(module, Files.readString(Block.ROOT.resolve(module).resolve("pom.xml")));
        }
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    private static boolean isPublished(String pom) {
        return !pom.contains("<maven.deploy.skip>true</maven.deploy.skip>");
    }

    @Test
    void should_publish_no_tests_and_no_examples() {
        assertThat(poms).hasSizeGreaterThan(10).allSatisfy((folder, pom) -> assertThat(isPublished(pom))
                .as(folder)
                .isEqualTo(
                        folder.equals(BOM) || folder.equals("camel-redis-delay") || folder.startsWith("extensions/")));
    }

    @Test
    void should_have_all_that_is_published_in_the_bom() {
        List<String> published = poms.entrySet().stream()
                .filter(module -> isPublished(module.getValue()))
                .map(module -> module.getKey().replaceAll(".*/", ""))
                .filter(module -> !module.equals(BOM))
                .toList();
        assertThat(all("<dependency>\\s*<groupId>io.github.redisdelay</groupId>\\s*<artifactId>(.*?)<", poms.get(BOM)))
                .containsExactlyInAnyOrderElementsOf(published);
    }

    @Test
    void should_have_a_module_name_of_its_own_for_each_jar() {
        Map<String, String> folders = new HashMap<>();
        poms.forEach((folder, pom) -> {
            if (isPublished(pom) && !folder.equals(BOM)) {
                List<String> names = all(MODULE_NAME, pom);
                assertThat(names).as(folder).hasSize(1);
                assertThat(names.get(0)).matches("io\\.github\\.redisdelay(\\.[a-z]+)?");
                assertThat(folders.put(names.get(0), folder))
                        .as("another module with the name of " + folder)
                        .isNull();
            }
        });
    }

    /** {@code .ci/release} writes it into all of them. */
    @Test
    void should_have_one_version() throws IOException {
        String version = new Sources(Block.ROOT).version();
        String own =
                "<groupId>io.github.redisdelay</groupId>\\s*<artifactId>[a-z0-9-]+</artifactId>\\s*<version>([^$<]*)<";
        assertThat(all(own, Files.readString(Block.ROOT.resolve("pom.xml")))).containsExactly(version);
        assertThat(poms)
                .allSatisfy(
                        (folder, pom) -> assertThat(all(own, pom)).as(folder).containsExactly(version));
    }

    static List<Path> workflows() throws IOException {
        try (Stream<Path> files = Files.list(Block.ROOT.resolve(".github/workflows"))) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("workflows")
    void should_have_workflows_that_use_only_commits_of_others_and_scripts_of_ours(Path workflow) throws IOException {
        Map<?, ?> parsed =
                (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(workflow));
        List<String> used = new ArrayList<>();
        List<String> scripts = new ArrayList<>();
        for (Object job : ((Map<?, ?>) parsed.get("jobs")).values()) {
            for (Object step : (List<?>) ((Map<?, ?>) job).get("steps")) {
                Map<?, ?> named = (Map<?, ?>) step;
                if (named.containsKey("uses")) {
                    used.add((String) named.get("uses"));
                } else {
                    scripts.addAll(all("(\\.ci/\\S+)", (String) named.get("run")));
                }
            }
        }
        assertThat(used).isNotEmpty().allSatisfy(action -> assertThat(action).matches("actions/[a-z-]+@[0-9a-f]{40}"));
        assertThat(scripts).contains(".ci/run").allSatisfy(script -> assertThat(Block.ROOT.resolve(script))
                .isExecutable());
    }
}
