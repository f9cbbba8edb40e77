// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.console.attack.AttackedConsole;
import io.github.redisdelay.console.attack.RawHttp;
import io.github.redisdelay.console.attack.RawHttp.Answer;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.TestPorts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The processor in a route that begins at a server of Camel's, which listens on all addresses. */
public abstract class ProcessorIT {

    protected static final String BASE = "/a/b/redis-delay";

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    protected int port;
    private DelayQueueClient client;
    private RedisDelayConsole console;

    /** Starts a context with these routes. */
    protected abstract void start(RouteBuilder routes) throws Exception;

    /** The endpoint of a server that takes what is below {@link #BASE}. */
    protected abstract String server();

    protected abstract void stop() throws Exception;

    @BeforeEach
    void openConsole() throws Exception {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        console = RedisDelayConsole.on(client).actions(true);
        port = TestPorts.next();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from(server()).process(console.processor());
            }
        });
    }

    @AfterEach
    void closeConsole() throws Exception {
        stop();
        console.close();
        client.close();
    }

    private Answer get(InetAddress address, String path) throws Exception {
        String request =
                "GET " + path + " HTTP/1.1\r\nHost: localhost:" + port + "\r\nConnection: close\r\nCookie: a=b\r\n\r\n";
        return RawHttp.send(new InetSocketAddress(address, port), request.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void should_refuse_all_attacks() throws Exception {
        new AttackedConsole(new InetSocketAddress("127.0.0.1", port), BASE, client.queue(redis.uniqueQueue()))
                .assertRefusesAllAttacks();
    }

    @Test
    void should_serve_the_page_from_a_folder() throws Exception {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        assertThat(get(here, BASE).head()).startsWith("HTTP/1.1 308 ").contains("Location: redis-delay/");
        Answer page = get(here, BASE + "/");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.body()).contains("<!DOCTYPE html>");
        assertThat(page.head())
                .contains("Content-Type: text/html", "Content-Security-Policy: default-src 'none';", "ETag: ")
                .doesNotContainIgnoringCase("cookie");
    }

    /** Each address that this machine has; some have no other but the local ones. */
    @Test
    void should_refuse_what_comes_from_another_address() throws Exception {
        for (NetworkInterface card : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(card.getInetAddresses())) {
                assertThat(get(address, BASE + "/api/me").status())
                        .as(address.toString())
                        .isEqualTo(address.isLoopbackAddress() ? 200 : 403);
            }
        }
    }
}
