// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** Tried here, and not with the starter: here the module for imports is on the class path. */
class RedisDelayRuntimeHintsTest {

    private static final String SERVICES = "META-INF/services/org/apache/camel/";

    private final RuntimeHints hints = new RuntimeHints();

    @BeforeEach
    void register() {
        new RedisDelayRuntimeHints().registerHints(hints, getClass().getClassLoader());
    }

    /** Resources of the component, as they are on the class path; their names begin with the folder. */
    private static List<String> resources(String folder, String pattern) throws IOException {
        List<String> names = new ArrayList<>();
        for (Resource resource :
                new PathMatchingResourcePatternResolver().getResources("classpath*:" + folder + pattern)) {
            String url = resource.getURL().toString();
            names.add(url.substring(url.indexOf(folder)));
        }
        return names;
    }

    @Test
    void should_have_a_hint_for_each_resource() throws IOException {
        List<String> names = new ArrayList<>(resources("io/github/redisdelay/queue/lua/", "**/*.lua"));
        names.addAll(resources("io/github/redisdelay/imports/", "**/*.lua"));
        names.addAll(resources(SERVICES, "**/redis-delay*"));
        names.addAll(resources("META-INF/io/github/redisdelay/", "**/*.json"));
        assertThat(names)
                .hasSizeGreaterThan(20)
                .contains(
                        SERVICES + "component/redis-delay",
                        SERVICES + "redis-delay-import",
                        "META-INF/io/github/redisdelay/camel/redis-delay.json")
                .allSatisfy(name -> assertThat(RuntimeHintsPredicates.resource().forResource(name))
                        .accepts(hints));
        assertThat(RuntimeHintsPredicates.resource().forResource("application.properties"))
                .rejects(hints);
    }

    @Test
    void should_let_camel_make_what_service_files_name() throws Exception {
        List<String> files = resources(SERVICES, "**/redis-delay*");
        assertThat(files).hasSizeGreaterThan(3);
        for (String file : files) {
            Properties service = new Properties();
            try (InputStream in = getClass().getClassLoader().getResourceAsStream(file)) {
                service.load(in);
            }
            assertThat(RuntimeHintsPredicates.reflection()
                            .onConstructor(
                                    Class.forName(service.getProperty("class")).getConstructor())
                            .invoke())
                    .as(file)
                    .accepts(hints);
        }
    }

    @Test
    void should_let_the_component_look_at_its_options_and_set_up_redisson() throws NoSuchMethodException {
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(RedisDelayConfiguration.class)
                        .withMemberCategory(MemberCategory.DECLARED_FIELDS))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(SingleServerConfig.class.getMethod("setPassword", String.class))
                        .invoke())
                .accepts(hints);
        assertThat(List.of(
                        Config.class,
                        ClusterServersConfig.class,
                        SentinelServersConfig.class,
                        SingleServerConfig.class,
                        MeterRegistry.class))
                .allSatisfy(
                        type -> assertThat(RuntimeHintsPredicates.reflection().onType(type))
                                .accepts(hints));
    }
}
