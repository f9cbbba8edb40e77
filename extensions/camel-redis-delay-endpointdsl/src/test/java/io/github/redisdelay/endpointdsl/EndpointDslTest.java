// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.endpointdsl;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory;
import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.AdvancedRedisDelayEndpointConsumerBuilder;
import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.AdvancedRedisDelayEndpointProducerBuilder;
import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.RedisDelayEndpointConsumerBuilder;
import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.RedisDelayEndpointProducerBuilder;
import io.github.redisdelay.endpointdsl.dsl.RedisDelayEndpointBuilderFactory.RedisDelayHeaderNameBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.tooling.model.ComponentModel;
import org.apache.camel.tooling.model.ComponentModel.EndpointOptionModel;
import org.apache.camel.tooling.model.JsonMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Compares the builders with the metadata of the component on the class path. They differ if the generator has not run
 * since the component was changed: {@code mvn -pl :camel-redis-delay-endpointdsl -am process-classes} runs it.
 */
class EndpointDslTest {

    private static final String METADATA = "META-INF/io/github/redisdelay/camel/redis-delay.json";

    private static ComponentModel component;

    @BeforeAll
    static void read() throws IOException {
        try (InputStream in = EndpointDslTest.class.getClassLoader().getResourceAsStream(METADATA)) {
            component = JsonMapper.generateComponentModel(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void should_have_a_method_for_each_option_of_a_consumer() {
        assertThat(methods(RedisDelayEndpointConsumerBuilder.class, AdvancedRedisDelayEndpointConsumerBuilder.class))
                .isEqualTo(options(option -> !option.getLabel().startsWith("producer")));
    }

    @Test
    void should_have_a_method_for_each_option_of_a_producer() {
        assertThat(methods(RedisDelayEndpointProducerBuilder.class, AdvancedRedisDelayEndpointProducerBuilder.class))
                .isEqualTo(options(option -> !option.getLabel().startsWith("consumer")));
    }

    @Test
    void should_name_each_header() {
        RedisDelayHeaderNameBuilder headers = new RedisDelayEndpointBuilderFactory.RedisDelayBuilders() {}.redisDelay();
        assertThat(Stream.of(RedisDelayHeaderNameBuilder.class.getDeclaredMethods())
                        .map(method -> call(method, headers)))
                .containsExactlyInAnyOrderElementsOf(component.getEndpointHeaders().stream()
                        .map(ComponentModel.EndpointHeaderModel::getName)
                        .toList());
    }

    private static Set<String> options(Predicate<EndpointOptionModel> which) {
        return component.getEndpointParameterOptions().stream()
                .filter(which)
                .map(EndpointOptionModel::getName)
                .collect(Collectors.toSet());
    }

    /** The names of the methods that set something. */
    private static Set<String> methods(Class<?>... builders) {
        return Stream.of(builders)
                .flatMap(builder -> Stream.of(builder.getDeclaredMethods()))
                .filter(method -> method.getParameterCount() > 0)
                .map(Method::getName)
                .collect(Collectors.toSet());
    }

    private static String call(Method method, Object object) {
        try {
            return (String) method.invoke(object);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
