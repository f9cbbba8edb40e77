// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.camel.util.json.DeserializationException;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The properties as editors are told of them. */
class MetadataTest {

    private static final Path FILE = Path.of("target/classes/META-INF/spring-configuration-metadata.json");
    private static final String PREFIX = "camel.component.redis-delay.";

    private static Map<String, JsonObject> properties;
    private static Map<String, JsonObject> hints;

    @BeforeAll
    static void read() throws IOException, DeserializationException {
        JsonObject metadata = (JsonObject) Jsoner.deserialize(Files.readString(FILE));
        properties = byName(metadata.getCollection("properties"));
        hints = byName(metadata.getCollection("hints"));
    }

    private static Map<String, JsonObject> byName(Collection<JsonObject> items) {
        return items.stream().collect(Collectors.toMap(item -> item.getString("name"), Function.identity()));
    }

    @Test
    void should_have_all_options_with_types_and_descriptions() throws IOException {
        assertThat(properties.values()).hasSizeGreaterThan(50).allSatisfy(property -> {
            assertThat(property.getString("name"))
                    .matches("camel\\.(component\\.redis-delay|redis-delay\\.console)\\..+");
            assertThat(property.getString("type"))
                    .matches(
                            "java\\.lang\\.\\w+|java\\.util\\.(List<java\\.lang\\.String>|Map<java\\.lang\\.String,java\\.lang\\.Object>)");
            assertThat(property.getString("description")).isNotBlank();
        });
    }

    @Test
    void should_have_default_values() {
        assertThat(properties.get(PREFIX + "visibility-timeout"))
                .containsEntry("type", "java.lang.String")
                .containsEntry("defaultValue", "30s");
        assertThat(properties.get(PREFIX + "maximum-redeliveries").getString("type"))
                .isEqualTo("java.lang.Integer");
        assertThat(properties.get(PREFIX + "maximum-redeliveries").getInteger("defaultValue"))
                .isEqualTo(9);
        assertThat(properties.get(PREFIX + "delay")).doesNotContainKey("defaultValue");
    }

    @Test
    void should_have_constants_and_kinds_of_beans() {
        assertThat(hints.get(PREFIX + "on-duplicate").<Collection<JsonObject>>getCollection("values"))
                .extracting(value -> value.getString("value"))
                .isEqualTo(List.of("reject", "ignore", "replace"));
        assertThat(hints.get(PREFIX + "redisson").toJson())
                .contains("spring-bean-reference", "org.redisson.api.RedissonClient");
    }
}
