// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Looks whether all is there that a page's shell commands name. */
final class ShellCheck {

    private static final Set<String> GOALS =
            Set.of("process-classes", "test-compile", "test", "verify", "install", "exec:java");

    private final Sources sources;

    ShellCheck(Sources sources) {
        this.sources = sources;
    }

    void check(Block block) {
        String commands = block.code().replace("\\\n", " ");
        for (String line : commands.split("\n")) {
            String command = line.replaceAll("(^|\\s)#.*", "").strip();
            if (command.startsWith("mvn ")) {
                maven(block + ": " + command, words(command));
            } else if (!command.isEmpty() && !command.startsWith("curl ")) {
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

    private void maven(String where, List<String> words) {
        for (int i = 1; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("-pl")) {
                assertThat(sources.modules())
                        .as(where)
                        .contains(words.get(++i).replace(":", "").split(","));
            } else if (word.startsWith("-P")) {
                assertThat(sources.profiles())
                        .as(where)
                        .contains(word.substring(2).split(","));
            } else if (word.startsWith("-Dexec.mainClass=")) {
                String name = word.substring(word.indexOf('=') + 1);
                assertThat(sources.hasClass(name)).as(where + ": " + name).isTrue();
            } else if (word.startsWith("-Dtest=")) {
                for (String test : word.substring(word.indexOf('=') + 1).split(",")) {
                    assertThat(sources.hasClass(test.replaceFirst("#.*", "")))
                            .as(where + ": " + test)
                            .isTrue();
                }
            } else if (!word.startsWith("-")) {
                assertThat(GOALS).as(where).contains(word);
            }
        }
    }
}
