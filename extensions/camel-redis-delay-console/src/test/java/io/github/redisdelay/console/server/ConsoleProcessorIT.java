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
import java.util.Collections;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The processor in a route that begins at a server of Camel's. */
class ConsoleProcessorIT {

    private static final String BASE = "/a/b/redis-delay";

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final DefaultCamelContext context = new DefaultCamelContext();
    private DelayQueueClient client;
    private RedisDelayConsole console;
    private int port;

    @BeforeEach
    void start() throws Exception {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
        port = TestPorts.next();
        console = RedisDelayConsole.on(client).actions(true);
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("jetty:http://0.0.0.0:" + port + BASE + "?matchOnUriPrefix=true")
                        .process(console.processor());
            }
        });
        context.start();
    }

    @AfterEach
    void stop() throws Exception {
        context.close();
        console.close();
        client.close();
    }

    @Test
    void should_refuse_all_attacks() throws Exception {
        new AttackedConsole(new InetSocketAddress("127.0.0.1", port), BASE, client.queue(redis.uniqueQueue()))
                .assertRefusesAllAttacks();
    }

    @Test
    void should_send_a_browser_to_the_folder() throws Exception {
        String head = RawHttp.send(
                        new InetSocketAddress("127.0.0.1", port),
                        ("GET " + BASE + " HTTP/1.1\r\nHost: localhost:" + port + "\r\nConnection: close\r\n\r\n")
                                .getBytes())
                .head();
        assertThat(head).startsWith("HTTP/1.1 308 ").contains("Location: redis-delay/");
        Answer page = RawHttp.send(
                new InetSocketAddress("127.0.0.1", port),
                ("GET " + BASE + "/ HTTP/1.1\r\nHost: localhost:" + port
                                + "\r\nConnection: close\r\nCookie: a=b\r\n\r\n")
                        .getBytes());
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
                Answer answer = RawHttp.send(
                        new InetSocketAddress(address, port),
                        ("GET " + BASE + "/api/me HTTP/1.1\r\nHost: localhost:" + port
                                        + "\r\nConnection: close\r\n\r\n")
                                .getBytes());
                assertThat(answer.status()).as(address.toString()).isEqualTo(address.isLoopbackAddress() ? 200 : 403);
            }
        }
    }
}
