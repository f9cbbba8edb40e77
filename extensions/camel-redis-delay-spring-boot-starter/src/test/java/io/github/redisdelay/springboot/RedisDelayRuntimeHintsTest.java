// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayComponentConfigurer;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayEndpointConfigurer;
import io.github.redisdelay.camel.RedisDelayEndpointUriFactory;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

class RedisDelayRuntimeHintsTest {

    private final RuntimeHints hints = new RuntimeHints();

    @BeforeEach
    void register() {
        new RedisDelayRuntimeHints().registerHints(hints, getClass().getClassLoader());
    }

    /** All of the component that is read as a resource, as it is on the class path. */
    static Stream<String> resources() throws IOException {
        PathMatchingResourcePatternResolver resolver = new PathMatchingResourcePatternResolver();
        Stream.Builder<String> names = Stream.builder();
        for (String pattern : new String[] {
            "io/github/redisdelay/queue/lua/**/*.lua",
            "META-INF/services/org/apache/camel/**/redis-delay*",
            "META-INF/io/github/redisdelay/camel/*.json"
        }) {
            for (Resource resource : resolver.getResources("classpath*:" + pattern)) {
                String url = resource.getURL().toString();
                names.add(url.substring(url.indexOf(pattern.substring(0, pattern.indexOf("*")))));
            }
        }
        return names.build();
    }

    @Test
    void should_look_at_all_kinds_of_resources() throws IOException {
        assertThat(resources())
                .contains(
                        "io/github/redisdelay/queue/lua/command/claim.lua",
                        "io/github/redisdelay/queue/lua/include/queue.lua",
                        "META-INF/services/org/apache/camel/component/redis-delay",
                        "META-INF/services/org/apache/camel/configurer/redis-delay-component",
                        "META-INF/services/org/apache/camel/urifactory/redis-delay-endpoint",
                        "META-INF/io/github/redisdelay/camel/redis-delay.json");
    }

    @ParameterizedTest
    @MethodSource("resources")
    void should_have_a_hint_for_each_resource(String name) {
        assertThat(RuntimeHintsPredicates.resource().forResource(name)).accepts(hints);
    }

    @Test
    void should_have_none_for_other_resources() {
        assertThat(RuntimeHintsPredicates.resource().forResource("application.properties"))
                .rejects(hints);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                RedisDelayComponent.class,
                RedisDelayComponentConfigurer.class,
                RedisDelayEndpointConfigurer.class,
                RedisDelayEndpointUriFactory.class
            })
    void should_let_camel_make_what_it_finds_by_name(Class<?> type) throws NoSuchMethodException {
        assertThat(RuntimeHintsPredicates.reflection()
                        .onConstructor(type.getConstructor())
                        .invoke())
                .accepts(hints);
    }

    @Test
    void should_let_the_component_read_its_annotations_and_set_up_redisson() throws NoSuchMethodException {
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(SingleServerConfig.class.getMethod("setPassword", String.class))
                        .invoke())
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection().onType(Config.class)).accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(RedisDelayConfiguration.class)
                        .withMemberCategory(MemberCategory.DECLARED_FIELDS))
                .accepts(hints);
    }
}
