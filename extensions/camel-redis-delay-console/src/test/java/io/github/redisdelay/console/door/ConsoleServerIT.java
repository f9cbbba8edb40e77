// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.door;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.console.attack.AttackedConsole;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import java.net.InetSocketAddress;
import java.net.URI;
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
    void should_refuse_all_attacks() throws Exception {
        new AttackedConsole(address(), "", client.queue(redis.uniqueQueue())).assertRefusesAllAttacks();
    }
}
