// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.camel.tooling.model.JsonMapper;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The generated files are those of the component's options.
 *
 * <p>{@code mvn -pl :camel-redis-delay-spring-boot-starter -am test -Dsurefire.failIfNoSpecifiedTests=false
 * -Dtest=GeneratedFilesTest -Dstarter.write=true} writes them.
 */
class GeneratedFilesTest {

    private static final String OPTIONS = "META-INF/io/github/redisdelay/camel/redis-delay.json";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java/io/github/redisdelay/springboot/RedisDelayComponentConfiguration.java",
                "resources/META-INF/additional-spring-configuration-metadata.json"
            })
    void should_be_made_of_the_options(String name) throws IOException {
        Path file = Path.of("src/generated").resolve(name);
        StarterGenerator generator = new StarterGenerator(JsonMapper.generateComponentModel(options()));
        String expected = name.endsWith(".java") ? generator.java() : generator.metadata();
        if (Boolean.getBoolean("starter.write")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, expected);
        }
        assertThat(file)
                .as("run this test with -Dstarter.write=true to write it")
                .content()
                .isEqualTo(expected);
    }

    private static String options() throws IOException {
        try (InputStream in = GeneratedFilesTest.class.getClassLoader().getResourceAsStream(OPTIONS)) {
            assertThat(in).as(OPTIONS + " on the classpath").isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
