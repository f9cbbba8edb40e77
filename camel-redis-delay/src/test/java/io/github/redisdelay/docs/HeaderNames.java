// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.camel.tooling.model.ComponentModel.EndpointHeaderModel;
import org.apache.camel.tooling.model.JsonMapper;

/** Looks whether the component has the headers that pages name. A route that asks for another one runs, and finds nothing. */
final class HeaderNames {

    private static final Pattern NAME = Pattern.compile("CamelRedisDelay\\w*\\b(?!\\*)");
    /** In Java, or in the simple language of XML and YAML. */
    private static final Pattern VALUE =
            Pattern.compile("header\\W{1,2}(CamelRedisDelay\\w*)(?:\"\\)\\.isEqualTo\\(\"|} == ')(.*?)[\"']");

    /** The values that each can have; null for any. */
    private final Map<String, List<String>> values = new HashMap<>();

    HeaderNames() throws IOException {
        String metadata =
                "camel-redis-delay/src/generated/resources/META-INF/io/github/redisdelay/camel/redis-delay.json";
        for (EndpointHeaderModel header : JsonMapper.generateComponentModel(
                        Files.readString(Block.ROOT.resolve(metadata)))
                .getEndpointHeaders()) {
            values.put(header.getName(), header.getEnums());
        }
    }

    void check(Block block) {
        NAME.matcher(block.code()).results().forEach(name -> assertThat(values)
                .as(block + ": what is '" + name.group() + "'")
                .containsKey(name.group()));
        VALUE.matcher(block.code()).results().forEach(header -> assertThat(values.get(header.group(1)))
                .as(block + ": what is '" + header.group(2) + "'")
                .contains(header.group(2)));
    }
}
