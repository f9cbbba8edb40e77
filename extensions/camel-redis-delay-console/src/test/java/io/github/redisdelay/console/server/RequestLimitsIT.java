// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.console.ConsoleAccess;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.ConsoleRequest;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.api.ConsoleApi;
import io.github.redisdelay.console.attack.Attack.Target;
import io.github.redisdelay.console.attack.RawHttp;
import io.github.redisdelay.console.attack.RawHttp.Answer;
import io.github.redisdelay.console.http.Router;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bounds of the console's own server: how many requests, and for how long. */
class RequestLimitsIT {

    /** Longer than a thread of a busy machine may stand still. */
    private static final long READ_MILLIS = 3000;

    private static final int THREADS = 48;

    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger entered = new AtomicInteger();
    private volatile boolean held;
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private final List<Socket> sockets = new ArrayList<>();
    private ConsoleServer server;
    private ConsoleApi api;

    @BeforeEach
    void start() {
        ConsoleOptions options = ConsoleOptions.DEFAULTS.withPort(0).withAccess(new Holding());
        api = new ConsoleApi(List::of, List::of, options);
        server = new ConsoleServer(new Router(api, options), options, READ_MILLIS, 60_000);
    }

    /** Lets everybody in, but some only when the test says so. */
    private final class Holding implements ConsoleAccess {
        @Override
        public ConsoleRights rights(ConsoleRequest request) {
            entered.incrementAndGet();
            if (held) {
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return ConsoleRights.read();
        }
    }

    @AfterEach
    void stop() throws IOException {
        goOn.countDown();
        for (Socket socket : sockets) {
            socket.close();
        }
        server.close();
        api.close();
        clients.shutdownNow();
    }

    private byte[] look() {
        return new Target("127.0.0.1", server.address().getPort(), "", "any").look();
    }

    private CompletableFuture<Answer> send() {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return RawHttp.send(server.address(), look());
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                clients);
    }

    @Test
    void should_work_on_16_requests_and_refuse_the_next() throws Exception {
        held = true;
        List<CompletableFuture<Answer>> first = new ArrayList<>();
        for (int i = 0; i < Router.MAX_REQUESTS; i++) {
            first.add(send());
        }
        await().until(() -> entered.get() == Router.MAX_REQUESTS);
        Answer refused = send().get(10, TimeUnit.SECONDS);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.head()).contains("Retry-after: 1");
        assertThat(refused.body()).contains("\"busy\"");
        goOn.countDown();
        for (CompletableFuture<Answer> each : first) {
            assertThat(each.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
        }
        assertThat(send().get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
    }

    @Test
    void should_hang_up_on_clients_that_send_slowly() throws Exception {
        for (int i = 0; i < 2 * THREADS; i++) {
            sockets.add(slow("GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "));
        }
        CompletableFuture<Void> dripping = CompletableFuture.runAsync(this::drip, clients);
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                        RawHttp.send(server.address(), look()).status())
                .isEqualTo(200));
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(sockets).allMatch(Socket::isClosed));
        dripping.get(10, TimeUnit.SECONDS);
    }

    @Test
    void should_not_hang_up_on_a_client_that_has_sent_all_and_waits_for_an_answer() throws Exception {
        held = true;
        CompletableFuture<Answer> waiting = send();
        await().until(() -> entered.get() == 1);
        sockets.add(slow("GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "));
        drip(); // until the time is over in which a request has to be here
        goOn.countDown();
        assertThat(waiting.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
    }

    @Test
    void should_hang_up_on_clients_whose_body_does_not_come() throws Exception {
        String head = "POST /api/pause HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "X-Redis-Delay-Console: 1\r\nContent-Length: 1000\r\n\r\n{";
        for (int i = 0; i < Router.MAX_REQUESTS; i++) {
            sockets.add(slow(head));
        }
        CompletableFuture<Void> dripping = CompletableFuture.runAsync(this::drip, clients);
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(sockets).allMatch(Socket::isClosed));
        dripping.get(10, TimeUnit.SECONDS);
        assertThat(RawHttp.send(server.address(), look()).status()).isEqualTo(200);
    }

    private Socket slow(String begin) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", server.address().getPort()), 10_000);
        socket.getOutputStream().write(begin.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Sends a byte now and then on each socket, and closes those that the server has closed. */
    private void drip() {
        while (!sockets.stream().allMatch(Socket::isClosed)) {
            for (Socket socket : sockets) {
                try {
                    if (!socket.isClosed()) {
                        socket.setSoTimeout(1);
                        socket.getOutputStream().write(' ');
                        if (socket.getInputStream().read() < 0) {
                            socket.close();
                        }
                    }
                } catch (java.net.SocketTimeoutException e) {
                    // The server still waits.
                } catch (IOException e) {
                    close(socket);
                }
            }
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed.
        }
    }

    @Test
    void should_leave_no_thread() throws Exception {
        assertThat(send().get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
        assertThat(threads()).isNotEmpty();
        server.close();
        api.close();
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(threads()).isEmpty());
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("RedisDelayConsole") || name.startsWith("HTTP-Dispatcher"))
                .toList();
    }
}
