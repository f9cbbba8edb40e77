// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayHeaderFilterStrategy;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.apache.camel.spi.HeaderFilterStrategy;
import org.apache.camel.spring.boot.CamelAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The properties of the component, in applications that connect to no Redis. */
@ExtendWith(OutputCaptureExtension.class)
class RedisDelayAutoConfigurationTest {

    private static final String PREFIX = "camel.component.redis-delay.";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(CamelAutoConfiguration.class, RedisDelayAutoConfiguration.class));

    private static RedisDelayConfiguration options(AssertableApplicationContext started) {
        return component(started, "redis-delay").getConfiguration();
    }

    private static RedisDelayComponent component(AssertableApplicationContext started, String name) {
        assertThat(started).hasNotFailed();
        return started.getBean(CamelContext.class).getComponent(name, RedisDelayComponent.class);
    }

    private static ContextConsumer<AssertableApplicationContext> failed(Class<?> error, String... texts) {
        return started -> assertThat(started)
                .getFailure()
                .hasRootCauseInstanceOf(error.asSubclass(Throwable.class))
                .rootCause()
                .hasMessageContainingAll(texts);
    }

    @Test
    void should_set_options_in_all_forms_of_their_names() {
        application
                .withPropertyValues(
                        PREFIX + "address=redis://localhost:1",
                        PREFIX + "visibility-timeout=77s",
                        PREFIX + "maximumRedeliveries=3",
                        PREFIX + "DEAD_LETTER=off",
                        PREFIX + "redelivery-jitter=0.5",
                        PREFIX + "auto-wired-enabled=false",
                        PREFIX + "import-options.codec=json",
                        PREFIX + "import-options.on-error=raw",
                        PREFIX + "redelivery-delays={{steps}}",
                        "steps=1s,2s")
                .run(started -> {
                    assertThat(options(started))
                            .returns("redis://localhost:1", RedisDelayConfiguration::getAddress)
                            .returns("77s", RedisDelayConfiguration::getVisibilityTimeout)
                            .returns(3, RedisDelayConfiguration::getMaximumRedeliveries)
                            .returns(false, RedisDelayConfiguration::isDeadLetter)
                            .returns(0.5, RedisDelayConfiguration::getRedeliveryJitter)
                            .returns("1s,2s", RedisDelayConfiguration::getRedeliveryDelays)
                            .returns("5s", RedisDelayConfiguration::getRequestTimeout)
                            .returns(
                                    Map.of("codec", "json", "on-error", "raw"),
                                    RedisDelayConfiguration::getImportOptions);
                    assertThat(component(started, "redis-delay").isAutowiredEnabled())
                            .isFalse();
                });
    }

    @Configuration
    static class OwnComponent {
        @Bean("redis-delay")
        RedisDelayComponent redisDelay() {
            RedisDelayComponent component = new RedisDelayComponent();
            component.getConfiguration().setVisibilityTimeout("55s");
            component.getConfiguration().setMaximumRedeliveries(2);
            component.getConfiguration().setKeyPrefix("shop");
            return component;
        }

        @Bean
        RedisDelayComponent other() {
            return new RedisDelayComponent();
        }
    }

    @Test
    void should_leave_to_a_bean_what_no_property_says() {
        application
                .withUserConfiguration(OwnComponent.class)
                .withPropertyValues(PREFIX + "keyPrefix=store")
                .run(started -> assertThat(options(started))
                        .returns("55s", RedisDelayConfiguration::getVisibilityTimeout)
                        .returns(2, RedisDelayConfiguration::getMaximumRedeliveries)
                        .returns("store", RedisDelayConfiguration::getKeyPrefix));
    }

    @Test
    void should_leave_components_of_other_names_alone() {
        application
                .withUserConfiguration(OwnComponent.class)
                .withPropertyValues(PREFIX + "address=redis://localhost:1")
                .run(started -> assertThat(component(started, "other").getConfiguration())
                        .returns(null, RedisDelayConfiguration::getAddress));
    }

    @Configuration
    static class Filter {
        @Bean
        HeaderFilterStrategy filter() {
            return new RedisDelayHeaderFilterStrategy();
        }

        @Bean
        RedisDelayConfiguration shop() {
            RedisDelayConfiguration options = new RedisDelayConfiguration();
            options.setKeyPrefix("shop");
            return options;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#bean:filter",
                "#filter",
                "filter",
                "#autowired",
                "#type:org.apache.camel.spi.HeaderFilterStrategy",
                "{{name}}"
            })
    void should_find_a_bean(String reference) {
        application
                .withUserConfiguration(Filter.class)
                .withPropertyValues(PREFIX + "header-filter-strategy=" + reference, "name=filter")
                .run(started ->
                        assertThat(options(started).getHeaderFilterStrategy()).isSameAs(started.getBean("filter")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#bean:filters", "#filters", "filters"})
    void should_refuse_a_bean_that_is_not_there(String reference) {
        application
                .withUserConfiguration(Filter.class)
                .withPropertyValues(PREFIX + "header-filter-strategy=" + reference)
                .run(failed(
                        InvalidConfigurationPropertyValueException.class,
                        PREFIX + "header-filter-strategy",
                        "No bean could be found in the registry for: filters"));
    }

    @Test
    void should_set_other_options_on_a_configuration_that_is_a_bean() {
        application
                .withUserConfiguration(Filter.class)
                .withPropertyValues(PREFIX + "configuration=shop", PREFIX + "batch-size=7")
                .run(started -> assertThat(options(started))
                        .returns("shop", RedisDelayConfiguration::getKeyPrefix)
                        .returns(7, RedisDelayConfiguration::getBatchSize));
    }

    @Test
    void should_refuse_an_option_that_there_is_not() {
        application
                .withPropertyValues(PREFIX + "visibility-timout=1m")
                .run(failed(UnboundConfigurationPropertiesException.class, PREFIX + "visibility-timout"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"database=one", "batching=perhaps", "redelivery-jitter=x"})
    void should_refuse_a_value_of_another_type(String property) {
        application.withPropertyValues(PREFIX + property).run(started -> assertThat(started)
                .getFailure()
                .hasStackTraceContaining(BindException.class.getName())
                .hasStackTraceContaining("'" + PREFIX + property.substring(0, property.indexOf('=')) + "'"));
    }

    @ParameterizedTest
    @CsvSource({
        "visibility-timeout, 5x, is no duration",
        "batch-size, 257, from 1 to 256",
        "partitions, 65, from 1 to 64",
        "key-prefix, {x}, ",
        "maximum-message-size, 0, from 1",
        "on-duplicate, refuse, ignore",
        "all, true, set it on the endpoint",
        "database, -1, "
    })
    void should_refuse_a_wrong_value_by_the_name_of_its_property(String property, String value, String right) {
        application
                .withPropertyValues(PREFIX + "address=redis://localhost:1", PREFIX + property + "=" + value)
                .run(failed(
                        InvalidConfigurationPropertyValueException.class,
                        PREFIX + property,
                        "'" + value + "'",
                        right == null ? "" : right));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "address=http://:very-secret@localhost",
                "address=redis://:very-secret@",
                "password=very-secret",
                "username=very-secret",
                "configuration-uri=http://x:very-secret@h/a.yaml"
            })
    void should_refuse_what_is_secret_without_showing_it(String property, CapturedOutput output) {
        application
                .withUserConfiguration(OwnComponent.class)
                .withPropertyValues(PREFIX + property, "address=redis://:very-secret@h")
                .withPropertyValues(property.startsWith("conf") ? PREFIX + "address=redis://:very-secret@h" : "a=b")
                .run(started -> assertThat(started)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith(PREFIX + property.substring(0, property.indexOf('=')) + ": option")
                        .hasMessageNotContaining("very-secret"));
        assertThat(output).doesNotContain("very-secret");
    }

    @Test
    void should_take_springs_redis_where_nothing_else_names_one() {
        application
                .withPropertyValues("spring.data.redis.url=redis://ada:secret@localhost:1/2")
                .run(started -> assertThat(options(started))
                        .returns("redis://ada:secret@localhost:1", RedisDelayConfiguration::getAddress)
                        .returns(2, RedisDelayConfiguration::getDatabase));
    }

    @ParameterizedTest
    @ValueSource(strings = {"address=redis://localhost:2", "configuration-uri=classpath:redisson.yaml"})
    void should_leave_springs_redis_aside_where_the_component_has_one(String property) {
        application
                .withPropertyValues("spring.data.redis.host=localhost", PREFIX + property)
                .run(started -> assertThat(options(started).getAddress()).isNotEqualTo("redis://localhost:6379"));
    }
}
