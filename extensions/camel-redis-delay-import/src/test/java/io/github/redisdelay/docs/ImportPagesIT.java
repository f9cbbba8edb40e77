// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisExtension;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the blocks of pages that import, as {@link PagesIT} does the others. */
class ImportPagesIT {

    @RegisterExtension
    static RedisExtension redis = PagesIT.redis;

    @TempDir
    static Path classes;

    static List<Block> blocks() throws IOException {
        return Block.all().stream().filter(Block::imports).toList();
    }

    @BeforeAll
    static void compile() throws IOException {
        PagesIT.compile(blocks(), classes);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("blocks")
    void should_show_what_works(Block block) throws Exception {
        PagesIT.check(block);
    }

    @Test
    void should_have_blocks_of_the_guide_and_of_the_components_page() throws IOException {
        assertThat(blocks())
                .extracting(Block::page)
                .contains("docs/migration-codecs.md", "camel-redis-delay/src/main/docs/redis-delay-component.adoc");
    }
}
