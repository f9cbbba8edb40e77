// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.test.RedisServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code rediss://} to a port where no TLS is spoken. */
class NoTlsIT {

    private static final PlaintextDetector QUICK =
            new PlaintextDetector(Duration.ofMillis(100), Duration.ofMillis(400));

    private final CountDownLatch go = new CountDownLatch(1);
    private final List<String> dropped = new CopyOnWriteArrayList<>();

    @AfterEach
    void let() {
        go.countDown();
    }

    private String connect(URI address, Supplier<String> connect) throws InterruptedException {
        return QUICK.connect(address, connect, dropped::add, task -> new Thread(task).start());
    }

    /** Connects when it is let. */
    private String slow() {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return "client";
    }

    @Test
    void should_ask_whether_TLS_is_spoken_where_a_plain_Redis_answers() throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            String address = RedisServer.shared().address().replace("redis://", "rediss://");
            context.getComponent("redis-delay", RedisDelayComponent.class)
                    .getConfiguration()
                    .setAddress(address);
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").log("received");
                }
            });
            long before = System.nanoTime();
            assertThatThrownBy(context::start)
                    .hasStackTraceContaining(
                            "Redis at " + address + " cannot be used: the server answers in plain text:"
                                    + " does the server speak TLS at this port?");
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    void should_ask_whether_TLS_is_spoken_where_nobody_answers() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            URI address = URI.create("rediss://127.0.0.1:" + silent.getLocalPort());
            assertThatThrownBy(() -> connect(address, this::slow))
                    .hasMessage("no TLS handshake within 500 ms: " + PlaintextDetector.QUESTION);
        }
        go.countDown();
        await().untilAsserted(() -> assertThat(dropped).containsExactly("client"));
    }

    @Test
    void should_not_ask_for_TLS_where_nobody_listens() throws Exception {
        List<Socket> filling = new ArrayList<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", full.getLocalPort());
            assertThatThrownBy(() -> {
                        while (filling.size() < 10) {
                            Socket socket = new Socket();
                            filling.add(socket);
                            socket.connect(address, 100);
                        }
                    })
                    .isInstanceOf(SocketTimeoutException.class);
            RuntimeException timedOut = new IllegalStateException("connection timed out");
            URI uri = URI.create("rediss://127.0.0.1:" + full.getLocalPort());
            Throwable thrown = catchThrowable(() -> connect(uri, () -> {
                try {
                    assertThat(go.await(1, TimeUnit.SECONDS)).isFalse();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                throw timedOut;
            }));
            assertThat(thrown).isSameAs(timedOut);
        } finally {
            for (Socket socket : filling) {
                socket.close();
            }
        }
    }

    @Test
    void should_wait_for_a_client_where_the_server_ends_a_plain_connection() throws Exception {
        try (ServerSocket strict = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            URI address = URI.create("rediss://127.0.0.1:" + strict.getLocalPort());
            new Thread(() -> {
                        try {
                            strict.accept().close();
                        } catch (java.io.IOException e) {
                            throw new IllegalStateException(e);
                        } finally {
                            go.countDown();
                        }
                    })
                    .start();
            PlaintextDetector patient = new PlaintextDetector(Duration.ofMillis(100), Duration.ofSeconds(20));
            assertThat(patient.connect(address, this::slow, dropped::add, task -> new Thread(task).start()))
                    .isEqualTo("client");
        }
        assertThat(dropped).isEmpty();
    }

    @Test
    void should_throw_what_the_client_throws() {
        RuntimeException own = new IllegalArgumentException("no such CA");
        Throwable thrown = catchThrowable(() -> connect(URI.create("rediss://127.0.0.1:1"), () -> {
            throw own;
        }));
        assertThat(thrown).isSameAs(own);
    }
}
