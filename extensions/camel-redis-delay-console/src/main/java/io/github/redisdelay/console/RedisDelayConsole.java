// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.console.api.ConsoleApi;
import io.github.redisdelay.console.http.Router;
import io.github.redisdelay.console.server.ConsoleProcessor;
import io.github.redisdelay.console.server.ConsoleServer;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import org.apache.camel.CamelContext;
import org.apache.camel.Processor;
import org.apache.camel.support.service.ServiceSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A web page to look into delay queues, and to act on them.
 *
 * <pre>{@code
 * RedisDelayConsole.on(camelContext).start();
 * }</pre>
 *
 * <p>By default it listens on {@code 127.0.0.1:8400}, lets in only browsers of the same machine, and changes nothing.
 * The options are set before it is started. Thread-safe from then on.
 */
public final class RedisDelayConsole implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayConsole.class);

    private final ConsoleSources sources;
    private final CamelContext context; // null where there is none
    private ConsoleOptions options = ConsoleOptions.DEFAULTS;

    private final Object lock = new Object();
    private ConsoleApi api; // guarded by lock
    private Router router; // guarded by lock
    private ConsoleServer server; // guarded by lock
    private boolean closed; // guarded by lock

    /** Ends with the context. */
    private final ServiceSupport service = new ServiceSupport() {
        @Override
        protected void doStop() {
            RedisDelayConsole.this.close();
        }
    };

    private RedisDelayConsole(ConsoleSources sources, CamelContext context) {
        this.sources = sources;
        this.context = context;
    }

    /**
     * A console for the queues to which the {@code redis-delay} endpoints of a context lead, and all others in the same
     * Redis. It uses the connections of the component and stops with the context.
     */
    public static RedisDelayConsole on(CamelContext context) {
        Objects.requireNonNull(context, "context");
        return new RedisDelayConsole(new ContextSources(context), context);
    }

    /** A console for the queues of these clients, which stay the caller's. */
    public static RedisDelayConsole on(DelayQueueClient... clients) {
        if (clients.length == 0) {
            throw new IllegalArgumentException("a console needs a client: there is none");
        }
        return new RedisDelayConsole(ConsoleSources.of(clients), null);
    }

    /**
     * A console for the queues of a Redis, to which it connects by itself.
     *
     * @param address {@code redis://host:6379}, or {@code rediss://} for TLS, perhaps with {@code user:password@}
     * @throws IllegalArgumentException if it is none
     */
    public static RedisDelayConsole on(String address) {
        return new RedisDelayConsole(new AddressSources(address), null);
    }

    /**
     * Sets the address on which the console's own server listens; default {@value ConsoleOptions#DEFAULT_HOST}. Any
     * other than a loopback address needs {@link #access}.
     */
    public RedisDelayConsole host(String host) {
        return with(options.withHost(host));
    }

    /** Sets the port; 0 for any that is free, default {@value ConsoleOptions#DEFAULT_PORT}. */
    public RedisDelayConsole port(int port) {
        return with(options.withPort(port));
    }

    /**
     * Sets the names by which browsers call the console, besides {@code localhost}; {@code *} for any, behind a server
     * that knows its names itself.
     */
    public RedisDelayConsole hostNames(String... names) {
        return with(options.withHostNames(List.of(names)));
    }

    /** Sets who may do what; default {@link ConsoleAccess#localOnly()}. */
    public RedisDelayConsole access(ConsoleAccess access) {
        return with(options.withAccess(access));
    }

    /** Allows changes, to whoever has the right; default false. */
    public RedisDelayConsole actions(boolean actions) {
        return with(options.withActions(actions));
    }

    /** Shows bodies of messages; default true. */
    public RedisDelayConsole bodies(boolean bodies) {
        return with(options.withBodies(bodies));
    }

    /**
     * Hides the values of headers whose names contain this; default {@value ConsoleOptions#DEFAULT_HIDDEN_HEADERS}.
     *
     * @param pattern a regular expression; upper and lower case are the same
     */
    public RedisDelayConsole hiddenHeaders(String pattern) {
        return with(options.withHiddenHeaders(pattern));
    }

    /** Sets a hook that takes away what nobody may see of headers and bodies; default none. */
    public RedisDelayConsole redactor(MessageRedactor redactor) {
        return with(options.withRedactor(redactor));
    }

    /** Shows a word in the page's head, such as {@code PRODUCTION}. */
    public RedisDelayConsole environment(String environment) {
        return with(options.withEnvironment(environment));
    }

    /** Shows these queues, too, where nothing else tells of them. */
    public RedisDelayConsole queues(String... names) {
        return with(options.withQueues(List.of(names)));
    }

    private RedisDelayConsole with(ConsoleOptions changed) {
        synchronized (lock) {
            if (router != null) {
                throw new IllegalStateException("the console has been started: set its options before");
            }
            options = changed;
        }
        return this;
    }

    /**
     * Listens by a server of its own, and logs its address.
     *
     * @throws IllegalStateException if it was started before, or closed, or listens on other than a loopback address
     *     without an access hook
     * @throws java.io.UncheckedIOException if it cannot listen there
     */
    public RedisDelayConsole start() {
        synchronized (lock) {
            if (server != null) {
                throw new IllegalStateException("the console listens already");
            }
            if (options.access() instanceof LocalOnly && !isLoopback(options.host())) {
                throw new IllegalStateException("the console does not listen on host '" + options.host()
                        + "' without an access hook: every client could see the messages. Set access(...), such as"
                        + " ConsoleAccess.basic(user, hash), or listen on 127.0.0.1");
            }
            server = new ConsoleServer(open(), options);
            LOG.info("The console is at {}{}", url(), options.actions() ? ", with actions" : ", read-only");
        }
        return this;
    }

    /**
     * Makes a processor for a route of Camel's HTTP components, such as {@code
     * from("platform-http:/redis-delay?matchOnUriPrefix=true").process(console.processor())}. Nothing else listens.
     *
     * @throws IllegalStateException if the console is closed
     */
    public Processor processor() {
        synchronized (lock) {
            return new ConsoleProcessor(open());
        }
    }

    /**
     * Answers requests for a server of any other kind, such as a servlet container by a {@link
     * io.github.redisdelay.console.server.ConsoleFilter}. Nothing else listens.
     *
     * @return one that refuses all, once the console is closed
     * @throws IllegalStateException if the console was closed before
     */
    public Router router() {
        synchronized (lock) {
            return router == null ? open() : router;
        }
    }

    private static boolean isLoopback(String host) {
        InetSocketAddress address = new InetSocketAddress(host, 0);
        InetAddress resolved = address.getAddress();
        return resolved != null && resolved.isLoopbackAddress();
    }

    /**
     * Where the console listens, such as {@code http://127.0.0.1:8400/}.
     *
     * @throws IllegalStateException if it does not
     */
    public String url() {
        synchronized (lock) {
            if (server == null) {
                throw new IllegalStateException("the console does not listen");
            }
            InetSocketAddress address = server.address();
            String host = address.getAddress().getHostAddress();
            return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort() + "/";
        }
    }

    private Router open() {
        if (closed) {
            throw new IllegalStateException("the console has been closed");
        }
        if (router == null) {
            api = new ConsoleApi(() -> sources.get(options.queues()), sources::imports, options);
            router = new Router(api, options);
            if (context != null) {
                try {
                    context.addService(service, true, false);
                } catch (Exception e) {
                    throw new IllegalStateException("the console could not be added to the CamelContext", e);
                }
            }
        }
        return router;
    }

    /**
     * Stops to listen, and ends all threads of the console. What it has begun in the background ends after the step
     * under way.
     */
    @Override
    public void close() {
        ConsoleServer toStop;
        ConsoleApi toClose;
        synchronized (lock) {
            closed = true;
            toStop = server;
            toClose = api;
            server = null;
            api = null;
            if (router != null) {
                router.close();
            }
        }
        if (toStop != null) {
            toStop.close();
        }
        if (toClose != null) {
            toClose.close();
            sources.close();
            forget();
        }
    }

    private void forget() {
        try {
            if (context != null && context.getStatus().isStarted()) {
                context.removeService(service);
            }
        } catch (Exception e) {
            LOG.debug("The console stays among the services of the CamelContext", e);
        }
    }
}
