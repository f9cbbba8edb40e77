// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;

/** The documentation's Redisson files are read by the Redisson of each example. */
class RedissonConfigurationIT {

    @Test
    void aSingleServer() throws IOException {
        Config config = read("redisson-single.yaml");

        assertThat(config.isSingleConfig()).isTrue();
        SingleServerConfig server = config.useSingleServer();
        assertThat(server.getAddress()).isEqualTo("redis://redis.example.com:6379");
        assertCredentials(server);
    }

    @Test
    void sentinel() throws IOException {
        Config config = read("redisson-sentinel.yaml");

        assertThat(config.isSentinelConfig()).isTrue();
        SentinelServersConfig servers = config.useSentinelServers();
        assertThat(servers.getMasterName()).isEqualTo("mymaster");
        assertThat(servers.getSentinelAddresses()).hasSize(3);
        assertThat(servers.getReadMode()).isEqualTo(ReadMode.MASTER);
        assertCredentials(servers);
    }

    @Test
    void cluster() throws IOException {
        Config config = read("redisson-cluster.yaml");

        assertThat(config.isClusterConfig()).isTrue();
        ClusterServersConfig servers = config.useClusterServers();
        assertThat(servers.getNodeAddresses()).hasSize(3);
        assertThat(servers.getReadMode()).isEqualTo(ReadMode.MASTER);
        assertCredentials(servers);
    }

    private static void assertCredentials(BaseConfig<?> servers) {
        assertThat(servers.getUsername()).isEqualTo("orders");
        assertThat(servers.getPassword()).isEqualTo("secret");
    }

    private static Config read(String name) throws IOException {
        try (InputStream file = RedissonConfigurationIT.class.getResourceAsStream("/redisson/" + name)) {
            return Config.fromYAML(file);
        }
    }
}
