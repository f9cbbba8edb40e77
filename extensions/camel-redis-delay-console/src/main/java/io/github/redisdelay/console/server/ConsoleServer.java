// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.http.Request;
import io.github.redisdelay.console.http.Response;
import io.github.redisdelay.console.http.Router;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A server of the console's own, on the one of the JDK. */
public final class ConsoleServer implements AutoCloseable {

    private static final int BACKLOG = 64;
    private static final long READ_MILLIS = 10_000;
    private static final long ANSWER_MILLIS = 60_000;
    /**
     * The most of a refused body that is read, so that its sender reads the answer, and does not see a broken
     * connection.
     */
    private static final long MAX_DRAINED = 8 * 1024 * 1024;

    private final Router router;
    private final RequestThreads threads;
    private final HttpServer server;

    /**
     * Starts to listen.
     *
     * @throws UncheckedIOException if it cannot, naming the option that is to be changed
     */
    public ConsoleServer(Router router, ConsoleOptions options) {
        this(router, options, READ_MILLIS, ANSWER_MILLIS);
    }

    ConsoleServer(Router router, ConsoleOptions options, long readMillis, long answerMillis) {
        this.router = router;
        InetSocketAddress address = new InetSocketAddress(options.host(), options.port());
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("host is '" + options.host() + "': no machine of this name is known");
        }
        try {
            server = HttpServer.create(address, BACKLOG);
        } catch (BindException e) {
            throw new UncheckedIOException(
                    "the console cannot listen on " + options.host() + " port " + options.port()
                            + ": choose a free port, or 0 for any",
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads = new RequestThreads("RedisDelayConsole", readMillis, answerMillis);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!hasBody(exchange.getRequestHeaders())) {
                threads.received();
            }
            InputStream body = new Received(exchange.getRequestBody(), threads);
            Response response = answer(exchange, body);
            drain(exchange.getRequestBody());
            threads.received();
            Headers headers = exchange.getResponseHeaders();
            response.headers().forEach(headers::set);
            boolean empty = response.body().length == 0;
            exchange.sendResponseHeaders(response.status(), empty ? -1 : response.body().length);
            if (!empty) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(response.body());
                }
            }
        }
    }

    private Response answer(HttpExchange exchange, InputStream body) {
        URI uri = exchange.getRequestURI();
        String path = uri.getRawPath();
        boolean plain = !uri.isAbsolute() && uri.getRawAuthority() == null && path != null && path.startsWith("/");
        Map<String, List<String>> headers = new TreeMap<>();
        exchange.getRequestHeaders().forEach((name, values) -> headers.computeIfAbsent(
                        name.toLowerCase(Locale.ROOT), key -> new ArrayList<>())
                .addAll(values));
        return router.answer(new Request(
                exchange.getRequestMethod(),
                plain ? path.substring(1) : uri.toString(),
                uri.getRawQuery(),
                headers,
                exchange.getRemoteAddress().getAddress().getHostAddress(),
                exchange.getLocalAddress().getPort(),
                false,
                Caller.isOfProxy(exchange.getProtocol()),
                null,
                body));
    }

    private static boolean hasBody(Headers headers) {
        return headers.containsKey("Transfer-Encoding")
                || !"0".equals(Objects.requireNonNullElse(headers.getFirst("Content-Length"), "0"));
    }

    private static void drain(InputStream rest) throws IOException {
        byte[] buffer = new byte[8192];
        long drained = 0;
        int read;
        while (drained < MAX_DRAINED && (read = rest.read(buffer)) >= 0) {
            drained += read;
        }
    }

    /** Stops at once; requests under way end without an answer. */
    @Override
    public void close() {
        threads.close();
        server.stop(0);
    }
}
