// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.env.MockEnvironment;

class SpringDataRedisTest {

    private static RedisDelayConfiguration with(RedisDelayConfiguration options, String... properties) {
        MockEnvironment environment = new MockEnvironment();
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            environment.setProperty("spring.data.redis." + parts[0], parts[1]);
        }
        SpringDataRedis.in(environment).ifPresent(redis -> redis.applyTo(options));
        return options;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            host=redis                              | redis://redis:6379
            port=7000                               | redis://localhost:7000
            host=redis;port=7000;ssl.enabled=true   | rediss://redis:7000
            host=redis;ssl.enabled=false            | redis://redis:6379
            host=::1                                | redis://[::1]:6379
            url=rediss://redis:7000                 | rediss://redis:7000
            url=redis://redis:7000/                 | redis://redis:7000
            url=redis://redis:7000;host=other       | redis://redis:7000
            url=redis://x:y@redis:7000              | redis://x:y@redis:7000
            """)
    void should_make_an_address(String properties, String address) {
        assertThat(with(new RedisDelayConfiguration(), properties.split(";")).getAddress())
                .isEqualTo(address);
    }

    @Test
    void should_set_what_belongs_to_the_address() {
        assertThat(with(new RedisDelayConfiguration(), "host=redis", "username=ada", "password=x", "database=3"))
                .returns("ada", RedisDelayConfiguration::getUsername)
                .returns("x", RedisDelayConfiguration::getPassword)
                .returns(3, RedisDelayConfiguration::getDatabase);
    }

    @Test
    void should_take_a_url_for_all_that_belongs_to_it() {
        assertThat(with(new RedisDelayConfiguration(), "url=redis://h:1/4", "username=ada", "password=x", "database=3"))
                .returns(null, RedisDelayConfiguration::getUsername)
                .returns(null, RedisDelayConfiguration::getPassword)
                .returns(4, RedisDelayConfiguration::getDatabase);
    }

    @Test
    void should_leave_what_the_component_says_itself() {
        RedisDelayConfiguration own = new RedisDelayConfiguration();
        own.setPassword("own");
        own.setDatabase(9);
        assertThat(with(own, "host=redis", "username=ada", "password=x", "database=3"))
                .returns(null, RedisDelayConfiguration::getUsername)
                .returns("own", RedisDelayConfiguration::getPassword)
                .returns(9, RedisDelayConfiguration::getDatabase);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password=x",
                "host=h;cluster.nodes=a:1,b:1",
                "host=h;cluster.nodes[0]=a:1",
                "host=h;sentinel.master=m;sentinel.nodes=a:1",
                "host=h;masterreplica.nodes=a:1",
                "host=h;ssl.bundle=b"
            })
    void should_leave_alone_what_no_address_can_say(String properties) {
        assertThat(with(new RedisDelayConfiguration(), properties.split(";")))
                .returns(null, RedisDelayConfiguration::getAddress)
                .returns(null, RedisDelayConfiguration::getPassword);
    }
}
