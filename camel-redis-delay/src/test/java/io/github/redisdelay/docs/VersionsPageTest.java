// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page of versions calls those tried by every build that the build has, and other pages name those that it has. */
class VersionsPageTest {

    private static final String STARTER = "extensions/camel-redis-delay-spring-boot-starter/pom.xml";
    private static final Pattern LIST = Pattern.compile(
            "(Redis|Valkey|Java|Camel|Redisson) (\\d+(?:\\.\\d+)?(?:(?:,? (?:and )?|、| 和 )\\d+\\.\\d+)*)");
    private static final Pattern NUMBER = Pattern.compile("\\d+(?:\\.\\d+)?");
    private static final String BOOT_4 = "verification/camel-redis-delay-spring-boot-4/pom.xml";

    @Test
    void should_name_the_versions_of_the_build() throws IOException {
        String camel = version("pom.xml", "camel.version");
        assertRow("Camel " + camel, version("pom.xml", "redisson.version"));
        assertRow(
                "Spring Boot " + version(STARTER, "spring-boot.version") + ", Camel " + camel,
                version(STARTER, "redisson.version"));
        assertRow(
                "Spring Boot " + version(BOOT_4, "spring-boot.version") + ", Camel " + version(BOOT_4, "camel.version"),
                version(BOOT_4, "redisson.version"));
    }

    /** The cell of a row, under the column of a version of Redisson. */
    private static void assertRow(String row, String redisson) throws IOException {
        String page = Files.readString(Block.ROOT.resolve("docs/versions.md"));
        String[] columns = page.substring(page.indexOf("| |"))
                .lines()
                .findFirst()
                .orElseThrow()
                .split("\\|");
        String[] cells = page.lines()
                .filter(line -> line.startsWith("| " + row + " |"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row '" + row + "' in docs/versions.md"))
                .split("\\|");
        for (int i = 2; i < columns.length; i++) {
            if (columns[i].strip().equals("Redisson " + redisson)) {
                assertThat(cells[i].strip()).as(row + " with" + columns[i]).startsWith("`.ci/run`");
                return;
            }
        }
        throw new AssertionError("no column 'Redisson " + redisson + "' in docs/versions.md");
    }

    /** What a page names in a sentence, such as {@code Redis 6.2, 8.0 and 8.6}: each version with its name. */
    private static Set<String> named(String text) {
        Set<String> named = new TreeSet<>();
        LIST.matcher(text).results().forEach(list -> NUMBER.matcher(list.group(2))
                .results()
                .forEach(number -> named.add(list.group(1) + " " + number.group())));
        return named;
    }

    /** Rows without a failure of the table that {@code .ci/matrix} writes, by the first two numbers of a version. */
    private static Set<String> passed() throws IOException {
        Set<String> passed = Pattern.compile("(?m)^\\| (\\w+ \\d+(?:\\.\\d+)?)\\S* \\| [\\d ]+ \\| none \\|")
                .matcher(Files.readString(Block.ROOT.resolve("docs/versions.md")))
                .results()
                .map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(passed).hasSizeGreaterThan(5);
        return passed;
    }

    @ParameterizedTest
    @CsvSource({"README.md, ## Versions", "README.zh-CN.md, ## 版本"})
    void should_be_named_on_the_first_page_if_they_passed(String page, String heading) throws IOException {
        String text = Files.readString(Block.ROOT.resolve(page));
        text = text.substring(text.indexOf(heading + "\n") + heading.length());
        Set<String> passed = passed();
        passed.add("Camel " + shortened(version("pom.xml", "camel.version")));
        passed.add("Redisson " + shortened(version("pom.xml", "redisson.version")));
        assertThat(named(text.substring(0, text.indexOf("\n## ")))).isEqualTo(passed);
    }

    @Test
    void should_be_the_servers_of_the_question() throws IOException {
        String text = Files.readString(Block.ROOT.resolve("docs/faq.md"));
        text = text.substring(text.indexOf("### Which Redis?"));
        Set<String> servers = passed();
        servers.removeIf(each -> !each.matches("(Redis|Valkey) .*"));
        assertThat(named(text.substring(0, text.indexOf("\n### ")))).isEqualTo(servers);
    }

    private static String shortened(String version) {
        return version.replaceFirst("(\\d+\\.\\d+).*", "$1");
    }

    private static String version(String pom, String property) throws IOException {
        Matcher found = Pattern.compile("<" + Pattern.quote(property) + ">(.*?)</")
                .matcher(Files.readString(Block.ROOT.resolve(pom)));
        assertThat(found.find()).as(property + " in " + pom).isTrue();
        return found.group(1);
    }
}
