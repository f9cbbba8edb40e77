// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.console.attack.AttackedConsole;
import io.github.redisdelay.console.attack.RawHttp;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ConsoleServerIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private DelayQueueClient client;
    private RedisDelayConsole console;

    @BeforeEach
    void start() {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        console = RedisDelayConsole.on(client).port(0).actions(true).start();
    }

    @AfterEach
    void stop() {
        console.close();
        client.close();
    }

    private InetSocketAddress address() {
        return new InetSocketAddress("127.0.0.1", URI.create(console.url()).getPort());
    }

    @Test
    void should_not_take_a_proxy_that_adds_no_header_for_a_browser() throws Exception {
        String request =
                "GET /api/me HTTP/1.%d\r\nHost: 127.0.0.1:" + address().getPort() + "\r\nConnection: close\r\n\r\n";
        assertThat(RawHttp.send(address(), request.formatted(1).getBytes(StandardCharsets.US_ASCII))
                        .status())
                .isEqualTo(200);
        assertThat(RawHttp.send(address(), request.formatted(0).getBytes(StandardCharsets.US_ASCII))
                        .status())
                .isEqualTo(403);
    }

    @Test
    void should_refuse_all_attacks() throws Exception {
        new AttackedConsole(address(), "", client.queue(redis.uniqueQueue())).assertRefusesAllAttacks();
    }
}
