// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Looks whether all is there that a page's shell commands name. */
final class ShellCheck {

    private static final Set<String> GOALS = Set.of(
            "compile",
            "process-classes",
            "test-compile",
            "test",
            "package",
            "verify",
            "install",
            "exec:java",
            "spring-boot:run",
            "dependency:copy-dependencies",
            "spotless:apply");

    /** Starts a Redis at the port that all examples expect. */
    private static final String REDIS = "docker run --rm -p 6379:6379 redis";

    private final Sources sources;

    ShellCheck(Sources sources) {
        this.sources = sources;
    }

    void check(Block block) {
        String commands = block.code().replace("\\\n", " ");
        for (String line : commands.split("\n")) {
            String command = line.replaceAll("(^|\\s)#.*", "").strip();
            if (command.startsWith("mvn ")) {
                maven(block + ": " + command, command);
            } else if (!command.isEmpty() && !command.startsWith("curl ") && !command.equals(REDIS)) {
                // The example's tests send what curl would.
                throw new AssertionError(block + ": this test does not know what to do with: " + command);
            }
        }
    }

    /** As a shell splits them; a quoted word may have spaces. */
    private static List<String> words(String command) {
        return Pattern.compile("(?:[^\\s\"']|\"[^\"]*\"|'[^']*')+")
                .matcher(command)
                .results()
                .map(match -> match.group().replaceAll("[\"']", ""))
                .toList();
    }

    /** Looks whether there is what a command of Maven names. */
    void maven(String where, String command) {
        List<String> words = words(command);
        List<String> profiles = new ArrayList<>();
        for (String word : words) {
            if (word.startsWith("-P")) {
                profiles.addAll(List.of(word.substring(2).split(",")));
            }
        }
        assertThat(sources.profiles()).as(where).containsAll(profiles);
        for (int i = 1; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("-pl")) {
                for (String module : words.get(++i).split(",")) {
                    module(where, module, profiles);
                }
            } else if (word.startsWith("-Dexec.mainClass=")) {
                assertClass(where, word.substring(word.indexOf('=') + 1));
            } else if (word.startsWith("-Dtest=") || word.startsWith("-Dit.test=")) {
                tests(where, word.substring(word.indexOf('=') + 1));
            } else if (!word.startsWith("-")) {
                assertThat(GOALS).as(where).contains(word);
            }
        }
    }

    private void module(String where, String module, List<String> profiles) {
        if (!module.startsWith(":")) {
            assertThat(sources.hasModuleIn(module))
                    .as(where + ": a module in " + module)
                    .isTrue();
            return;
        }
        String name = module.substring(1);
        assertThat(sources.modules()).as(where).contains(name);
        sources.profileOf(name).ifPresent(profile -> assertThat(profiles)
                .as(where + ": the profile that adds " + name)
                .contains(profile));
    }

    /** @param tests as Surefire reads them, such as {@code OneIT#should_*,OtherTest} */
    void tests(String where, String tests) {
        for (String test : tests.split(",")) {
            String[] parts = test.split("#");
            assertClass(where, parts[0]);
            if (parts.length > 1) {
                assertThat(sources.hasMethod(parts[0], parts[1]))
                        .as(where + ": " + test)
                        .isTrue();
            }
        }
    }

    void assertClass(String where, String name) {
        assertThat(sources.hasClass(name)).as(where + ": " + name).isTrue();
    }
}
