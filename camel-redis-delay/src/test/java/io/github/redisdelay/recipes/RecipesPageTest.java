// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/recipes.md} true: each block of code is what a recipe of this package marks, in the page's own lines and
 * indentation, and no recipe is missing.
 */
class RecipesPageTest {

    private static final Path PAGE = Path.of("../docs/recipes.md");
    private static final Path SOURCES = Path.of("src/test/java/io/github/redisdelay/recipes");
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```\n", Pattern.DOTALL);
    private static final Pattern MARKED =
            Pattern.compile("// tag::routes\\[]\n(.*?)// end::routes\\[]", Pattern.DOTALL);
    private static final Pattern STRING_OR_SPACE = Pattern.compile("(\"(?:\\\\.|[^\"\\\\])*\")|\\s+");

    private static List<String> found(Pattern pattern, String text) {
        List<String> found = new ArrayList<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    /** White space outside of strings does not matter: the sources are formatted by a tool, the page for readers. */
    private static String withoutSpace(String code) {
        return STRING_OR_SPACE
                .matcher(code)
                .replaceAll(match -> match.group(1) == null ? "" : Matcher.quoteReplacement(match.group(1)));
    }

    @Test
    void should_show_the_recipes_that_are_run() throws IOException {
        Map<String, String> recipes = new HashMap<>(); // code to file
        try (Stream<Path> files = Files.list(SOURCES)) {
            for (Path file :
                    files.filter(file -> !file.endsWith("RecipesPageTest.java")).toList()) {
                found(MARKED, Files.readString(file)).forEach(code -> recipes.put(withoutSpace(code), file.toString()));
            }
        }
        assertThat(recipes).isNotEmpty();
        List<String> unknown = found(BLOCK, Files.readString(PAGE)).stream()
                .filter(block -> recipes.remove(withoutSpace(block)) == null)
                .toList();
        assertThat(unknown)
                .as("blocks of " + PAGE + " that no recipe is equal to, apart from white space")
                .isEmpty();
        assertThat(recipes.values())
                .as("recipes that " + PAGE + " does not show")
                .isEmpty();
    }
}
