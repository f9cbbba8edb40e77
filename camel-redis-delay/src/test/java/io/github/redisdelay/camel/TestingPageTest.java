// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/testing.md} true: the test that it shows is one of ours, from the first import to the end. */
class TestingPageTest {

    private static final Path PAGE = Path.of("../docs/testing.md");
    private static final Path SHOWN = Path.of("src/test/java/io/github/redisdelay/docs/OrderRoutesTest.java");

    @Test
    void should_show_a_test_that_is_run() throws IOException {
        String source = Files.readString(SHOWN);

        assertThat(Files.readString(PAGE))
                .as("the code of " + SHOWN + " in the page")
                .contains("```java\n" + source.substring(source.indexOf("import ")) + "```\n");
    }
}
