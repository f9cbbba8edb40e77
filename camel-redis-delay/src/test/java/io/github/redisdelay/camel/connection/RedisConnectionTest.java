// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.config.Config;

/** The credentials in the addresses of a Redisson file. */
class RedisConnectionTest {

    private static final String SINGLE = "singleServerConfig:\n  address: '%s'\n";
    private static final String CLUSTER = "clusterServersConfig:\n  nodeAddresses: ['redis://a:1', '%s']\n";
    private static final String SENTINEL =
            "sentinelServersConfig:\n  masterName: m\n  sentinelAddresses: ['%s', 'redis://a:1']\n";

    @ParameterizedTest
    @CsvSource({
        "redis://shop:pw@host:6379, redis://host:6379, shop, pw",
        "rediss://:p%20w@[::1]:6379, rediss://[::1]:6379, , p w",
        "redis://pw@host:6379, redis://host:6379, , pw",
        "redis://host:6379, redis://host:6379, , ",
        "redis+uds:///tmp/a@b, redis+uds:///tmp/a@b, , ",
        "redis://shop:pw@host:port, redis://shop:pw@host:port, , "
    })
    void should_take_credentials_out_of_addresses(String address, String left, String username, String password)
            throws Exception {
        for (String yaml : List.of(SINGLE, CLUSTER, SENTINEL + "  password: 'x'\n")) {
            Config config = Config.fromYAML(yaml.formatted(address));

            RedisConnection.takeCredentialsOutOfAddresses(config);

            RedisConnection.Servers servers = RedisConnection.Servers.of(config);
            assertThat(servers.addresses()).contains(left).hasSize(yaml.equals(SINGLE) ? 1 : 2);
            assertLogin(config, username, password);
        }
    }

    @Test
    void should_prefer_the_settings_to_an_address() throws Exception {
        for (String yaml : List.of(
                SINGLE + "  username: 'other'\n  password: 'x'\n",
                CLUSTER + "  username: 'other'\n  password: 'x'\n",
                SENTINEL + "  password: 'y'\n  sentinelUsername: 'other'\n  sentinelPassword: 'x'\n")) {
            Config config = Config.fromYAML(yaml.formatted("redis://shop:pw@host:6379"));

            RedisConnection.takeCredentialsOutOfAddresses(config);

            assertLogin(config, "other", "x");
        }
    }

    /** Redisson uses no other password for sentinels where Redis has none. */
    @Test
    void should_leave_the_credentials_of_sentinels_whose_redis_has_no_password() throws Exception {
        Config config = Config.fromYAML(SENTINEL.formatted("redis://shop:pw@host:6379"));

        RedisConnection.takeCredentialsOutOfAddresses(config);

        RedisConnection.Servers servers = RedisConnection.Servers.of(config);
        assertThat(servers.addresses()).contains("redis://shop:pw@host:6379");
    }

    private static void assertLogin(Config config, String username, String password) throws Exception {
        String whose = config.isSentinelConfig() ? "Sentinel" : "";
        assertThat(setting(config, whose + "Username")).isEqualTo(username);
        assertThat(setting(config, whose + "Password")).isEqualTo(password);
    }

    /** Redisson 4.7 also has it on the configuration. */
    private static Object setting(Config config, String name) throws Exception {
        for (Object target : List.of(config, RedisConnection.Servers.of(config).settings())) {
            for (Method method : target.getClass().getMethods()) {
                if (method.getName().equals("get" + name) && method.invoke(target) != null) {
                    return method.invoke(target);
                }
            }
        }
        return null;
    }
}
