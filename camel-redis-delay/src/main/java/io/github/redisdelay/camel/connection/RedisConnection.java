// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import java.io.FileNotFoundException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.security.cert.CertPathBuilderException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.support.ExceptionHelper;
import org.apache.camel.support.ResourceHelper;
import org.apache.camel.util.ObjectHelper;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.misc.RedisURI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A RedissonClient with the address that it connects to.
 *
 * @param address the address without credentials, for logs and errors
 * @param owned true if the component shuts the client down
 */
public record RedisConnection(RedissonClient redisson, String address, boolean owned) {

    private static final Logger LOG = LoggerFactory.getLogger(RedisConnection.class);

    // A script call holds a connection until it is answered. Few are under way at a time: requests that come meanwhile
    // share the next call.
    private static final int POOL_SIZE = 32;
    private static final int IDLE_CONNECTIONS = 2;
    private static final int NETTY_THREADS = 4;
    private static final int LISTENER_THREADS = 2;
    private static final Pattern POSITION = Pattern.compile("line:? \\d+, column:? \\d+");
    /**
     * The interval at which Redisson pings connections. Only a ping finds a connection that a firewall has dropped: with
     * Redisson's 30 s, deliveries stood still for 68 s in an experiment, with this for 7 s.
     */
    private static final int PING_INTERVAL_MILLIS = 5000;

    private static final int CONNECT_TIMEOUT_MILLIS = 5000;
    /** Redisson's own time limit for a shutdown. */
    private static final long SHUTDOWN_MILLIS = 10_000;

    private static final String UNTRUSTED =
            "its certificate is of no CA that is trusted here: name that CA's in a trust store"
                    + " by option 'sslContextParameters', by 'sslTruststore' in the Redisson configuration file, or to the JVM";

    /**
     * Takes the given client, or makes one and connects.
     *
     * @throws RedisUnusableException if it cannot connect
     */
    public static RedisConnection open(CamelContext context, ConnectionSettings settings) throws Exception {
        if (settings.redisson() != null) {
            return new RedisConnection(
                    settings.redisson(), describe(settings.redisson().getConfig()), false);
        }
        if (settings.configurationUri() == null && settings.address() == null) {
            throw new IllegalArgumentException(missing(context));
        }
        Config config = settings.configurationUri() != null
                ? read(context, settings.configurationUri())
                : make(context, settings);
        // The component uses no codec. This one keeps Redisson from making an object of what it reads.
        config.setCodec(ByteArrayCodec.INSTANCE);
        // Redisson would look for objects of its own in every argument of every script.
        config.setReferenceEnabled(false);
        takeCredentialsOutOfAddresses(config);
        String address = describe(config);
        try {
            return new RedisConnection(Redisson.create(config), address, true);
        } catch (RuntimeException e) {
            throw unreachable(address, e, Secrets.of(config, settings.password()));
        }
    }

    /**
     * Shuts the client down if the component owns it.
     *
     * @param patience the longest time that Redisson waits for answers
     */
    void close(Duration patience) {
        if (owned) {
            redisson.shutdown(0, Math.min(SHUTDOWN_MILLIS, patience.toMillis()), TimeUnit.MILLISECONDS);
        }
    }

    private static String missing(CamelContext context) {
        int clients =
                context.getRegistry().findByTypeWithName(RedissonClient.class).size();
        return "no Redis is named: set camel.component.redis-delay.address to redis://host:6379, or"
                + " camel.component.redis-delay.configurationUri to a Redisson YAML file, or put a RedissonClient into the"
                + " registry, before this endpoint is made (it has " + clients
                + "; of several, option 'redisson' chooses"
                + " one). In Spring Boot camel-redis-delay-spring-boot-starter reads spring.data.redis.host and .url, and"
                + " redisson-spring-boot-starter all of spring.data.redis";
    }

    private static Config read(CamelContext context, String uri) throws Exception {
        try (InputStream yaml = ResourceHelper.resolveMandatoryResourceAsInputStream(context, uri)) {
            return Config.fromYAML(yaml);
        } catch (Exception e) {
            String shown = ConnectionSettings.fileWithoutCredentials(uri);
            throw new IllegalArgumentException(
                    "option 'configurationUri': " + shown + " cannot be read as a Redisson configuration: "
                            + problem(e).replace(uri, shown));
        }
    }

    /**
     * The problem and its position. A parser also quotes the lines around it, which may be the password: they are left
     * out.
     */
    private static String problem(Exception e) {
        if (e instanceof FileNotFoundException) {
            return e.getMessage();
        }
        Matcher where = POSITION.matcher(String.valueOf(e.getMessage()));
        String last = "";
        while (where.find()) {
            last = " at " + where.group();
        }
        return e.getClass().getSimpleName() + last;
    }

    private static Config make(CamelContext context, ConnectionSettings settings) throws Exception {
        Config config = new Config();
        config.setThreads(LISTENER_THREADS);
        config.setNettyThreads(NETTY_THREADS);
        SingleServerConfig server = config.useSingleServer()
                .setAddress(settings.address())
                .setDatabase(settings.database())
                .setConnectionPoolSize(POOL_SIZE)
                .setConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                .setSubscriptionConnectionPoolSize(IDLE_CONNECTIONS)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
                .setPingConnectionInterval(PING_INTERVAL_MILLIS);
        set(config, server, "Username", settings.username());
        set(config, server, "Password", settings.password());
        if (settings.tls() != null) {
            TlsSettings tls = TlsSettings.of(context, settings.tls());
            set(config, server, "SslTrustManagerFactory", tls.trustManagers());
            set(config, server, "SslKeyManagerFactory", tls.keyManagers());
            set(config, server, "SslProtocols", tls.protocols());
            set(config, server, "SslCiphers", tls.cipherSuites());
        }
        return config;
    }

    /**
     * Moves credentials from addresses to the settings for them, whose own values win: Redisson logs addresses as they are.
     *
     * <p>Of addresses that cannot be read, nothing is moved; and nothing of those of sentinels if Redis itself has no password,
     * as Redisson then gives sentinels no other one.
     */
    static void takeCredentialsOutOfAddresses(Config config) throws ReflectiveOperationException {
        Servers servers = Servers.of(config);
        if (servers == null || config.isSentinelConfig() && !isSet(config, servers.settings(), "Password")) {
            return;
        }
        List<RedisURI> read;
        try {
            read = servers.addresses().stream().map(RedisURI::new).toList();
        } catch (IllegalArgumentException e) {
            return; // Redisson's own error says why.
        }
        String whose = config.isSentinelConfig() ? "Sentinel" : "";
        for (RedisURI address : read) {
            set(config, servers.settings(), whose + "Username", address.getUsername());
            set(config, servers.settings(), whose + "Password", address.getPassword());
        }
        UnaryOperator<String> shown = address -> address.replaceFirst("//[^/]*@", "//");
        if (servers.settings() instanceof SingleServerConfig one) {
            one.setAddress(shown.apply(one.getAddress()));
        } else {
            servers.addresses().replaceAll(shown);
        }
    }

    /**
     * Sets what is not set. Redisson 4.7 has these setters on the configuration and warns of the server's; Redisson 3 has only
     * the server's.
     */
    private static void set(Config config, BaseConfig<?> server, String name, Object value)
            throws ReflectiveOperationException {
        if (value == null || isSet(config, server, name)) {
            return;
        }
        for (Object target : List.of(config, server)) {
            for (Method method : target.getClass().getMethods()) {
                if (method.getName().equals("set" + name)) {
                    method.invoke(target, value);
                    return;
                }
            }
        }
        throw new IllegalStateException("Redisson has no set" + name);
    }

    private static boolean isSet(Config config, BaseConfig<?> server, String name) throws ReflectiveOperationException {
        for (Object target : List.of(config, server)) {
            for (Method method : target.getClass().getMethods()) {
                if (method.getName().equals("get" + name) && method.invoke(target) != null) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The addresses that a configuration connects to, without credentials. */
    public static String describe(Config config) {
        Servers servers = Servers.of(config);
        return servers == null
                ? "Redis"
                : servers.addresses().stream()
                        .map(ConnectionSettings::withoutCredentials)
                        .collect(Collectors.joining(","));
    }

    /**
     * The server and the database as text, without credentials: they tell queues of the same name apart. A given client has
     * its id there if its servers cannot be named.
     */
    public static String place(ConnectionSettings settings) {
        RedissonClient client = settings.redisson();
        if (client == null) {
            return settings.toString();
        }
        Servers servers = Servers.of(client.getConfig());
        return servers == null
                ? "Redis of client " + client.getId()
                : ConnectionSettings.withDatabase(describe(client.getConfig()), servers.database());
    }

    /** The servers of a configuration, as one of the kinds of settings of Redisson names them. */
    record Servers(BaseConfig<?> settings, List<String> addresses, int database) {

        /** Returns null if they are not one server, a cluster or watched by sentinels. */
        static Servers of(Config config) {
            if (config != null && config.isSingleConfig()) {
                SingleServerConfig one = config.useSingleServer();
                return new Servers(one, Stream.ofNullable(one.getAddress()).toList(), one.getDatabase());
            }
            if (config != null && config.isClusterConfig()) {
                return new Servers(
                        config.useClusterServers(), config.useClusterServers().getNodeAddresses(), 0);
            }
            if (config != null && config.isSentinelConfig()) {
                SentinelServersConfig watched = config.useSentinelServers();
                return new Servers(watched, watched.getSentinelAddresses(), watched.getDatabase());
            }
            return null;
        }
    }

    private static RedisUnusableException unreachable(String address, RuntimeException error, Secrets secrets) {
        Throwable untrusted = ObjectHelper.getException(CertPathBuilderException.class, error);
        String reason = reason(address, error) + (untrusted == null ? "" : "; " + UNTRUSTED);
        if (address.startsWith("rediss:") && isTimeout(error)) {
            reason += "; does the server speak TLS at this port? Without TLS write redis:// instead of rediss://";
        }
        LOG.debug("Redis at {} cannot be used: {}", address, secrets.hide(ExceptionHelper.stackTraceToString(error)));
        // The message says all. Redisson's causes would be some hundred lines in the log of each start that fails.
        return new RedisUnusableException("Redis at " + address + " cannot be used: " + secrets.hide(reason), null);
    }

    private static boolean isTimeout(Throwable error) {
        return ObjectHelper.getException(TimeoutException.class, error) != null
                || String.valueOf(error.getMessage()).contains("timed out");
    }

    /**
     * The error that Redis cannot be used.
     *
     * @param prefix prefix of the message, naming the user of the connection
     * @param error an error without secrets
     */
    public static RedisUnusableException unusable(String prefix, String address, Throwable error) {
        // A DelayQueueException tells its cause in its own words.
        Throwable cause = error instanceof DelayQueueException ours && ours.getClientError() != null
                ? ours.getClientError()
                : error;
        return new RedisUnusableException(
                prefix + "Redis at " + address + " cannot be used: " + reason(address, cause), error);
    }

    /** An error as text, without the address, which the message names already. */
    private static String reason(String address, Throwable error) {
        String text = ErrorText.of(error);
        int where = text.lastIndexOf(": ");
        return where > 0 && address.endsWith("//" + text.substring(where + 2)) ? text.substring(0, where) : text;
    }
}
