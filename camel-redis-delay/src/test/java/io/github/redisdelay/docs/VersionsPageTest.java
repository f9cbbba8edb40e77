// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page of versions calls those tried by every build that the build has. */
class VersionsPageTest {

    private static final String STARTER = "extensions/camel-redis-delay-spring-boot-starter/pom.xml";
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

    private static String version(String pom, String property) throws IOException {
        Matcher found = Pattern.compile("<" + Pattern.quote(property) + ">(.*?)</")
                .matcher(Files.readString(Block.ROOT.resolve(pom)));
        assertThat(found.find()).as(property + " in " + pom).isTrue();
        return found.group(1);
    }
}
