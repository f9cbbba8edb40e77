// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** Looks into the jar that users get: what is found there by name, and is missed only elsewhere. */
class JarIT {

    @Test
    void should_have_what_others_look_for() throws IOException {
        try (JarFile jar = new JarFile(jar().toFile())) {
            assertThat(jar.stream().map(ZipEntry::getName))
                    .contains(
                            "META-INF/LICENSE",
                            "META-INF/NOTICE",
                            "META-INF/services/org/apache/camel/component/redis-delay",
                            "META-INF/io/github/redisdelay/camel/redis-delay.json",
                            "kamelets/redis-delay-sink.kamelet.yaml",
                            "kamelets/redis-delay-source.kamelet.yaml");
        }
    }

    /** Camel Quarkus does not look for components in a jar without an index. */
    @Test
    void should_have_an_index_of_its_classes() throws IOException {
        try (JarFile jar = new JarFile(jar().toFile());
                InputStream in = jar.getInputStream(jar.getEntry("META-INF/jandex.idx"))) {
            byte[] index = in.readAllBytes();
            assertThat(index).startsWith(0xBA, 0xBE, 0x1F, 0x15); // how an index begins
            assertThat(new String(index, StandardCharsets.ISO_8859_1))
                    .contains("RedisDelayComponent", "RedisDelayEndpoint", "RedisDelayComponentConfigurer");
        }
    }

    @Test
    void should_have_a_name_for_users_who_have_modules() throws IOException {
        try (JarFile jar = new JarFile(jar().toFile())) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                    .isEqualTo("io.github.redisdelay");
        }
    }

    private static Path jar() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            List<Path> jars = files.filter(file ->
                            file.getFileName().toString().matches("camel-redis-delay-[0-9.]+(-SNAPSHOT)?\\.jar"))
                    .toList();
            assertThat(jars).as("the jar, which Maven builds before this test").hasSize(1);
            return jars.get(0);
        }
    }
}
