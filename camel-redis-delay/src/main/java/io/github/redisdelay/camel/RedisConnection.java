// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.io.FileNotFoundException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.support.ResourceHelper;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/**
 * A RedissonClient, where it connects to, and whether it is ours to shut down.
 *
 * @param address fit to be shown: without credentials
 */
record RedisConnection(RedissonClient redisson, String address, boolean owned) {

    // A script call holds a connection until it is answered, and few are under way at a time: what is asked for
    // meanwhile
    // goes together in the next one.
    private static final int POOL_SIZE = 32;
    private static final int IDLE_CONNECTIONS = 2;
    private static final int NETTY_THREADS = 4;
    private static final int LISTENER_THREADS = 2;
    private static final Pattern POSITION = Pattern.compile("line:? \\d+, column:? \\d+");
    /**
     * How often connections are tried out. One that is half-open, as a firewall leaves it that forgot it, is found by this
     * alone: with Redisson's 30 s, deliveries stood still for 68 s in an experiment, with this for 7 s.
     */
    private static final int PING_INTERVAL_MILLIS = 5000;

    private static final int CONNECT_TIMEOUT_MILLIS = 5000;

    /**
     * Takes the given client, or makes one and connects.
     *
     * @throws RuntimeCamelException naming the address and the cause, and no credentials
     */
    static RedisConnection open(CamelContext context, ConnectionSettings settings) throws Exception {
        if (settings.redisson() != null) {
            return new RedisConnection(
                    settings.redisson(), describe(settings.redisson().getConfig()), false);
        }
        if (!settings.isComplete()) {
            throw new IllegalArgumentException(missing(context));
        }
        Config config =
                settings.configurationUri() != null ? read(context, settings.configurationUri()) : make(settings);
        // Nothing of ours goes through a codec; this one keeps Redisson from ever making an object of what it reads.
        config.setCodec(ByteArrayCodec.INSTANCE);
        // Nor is anything of it an object of Redisson's, for which it would look at every argument of every script.
        config.setReferenceEnabled(false);
        String address = describe(config);
        try {
            return new RedisConnection(Redisson.create(config), address, true);
        } catch (RuntimeException e) {
            throw unreachable(address, e, settings.password());
        }
    }

    void close() {
        if (owned) {
            redisson.shutdown();
        }
    }

    private static String missing(CamelContext context) {
        Set<String> clients =
                context.getRegistry().findByTypeWithName(RedissonClient.class).keySet();
        if (clients.size() > 1) {
            return "no Redis is named and the registry has " + clients.size()
                    + " of type RedissonClient: choose one with" + " option 'redisson', such as redisson=#"
                    + clients.iterator().next();
        }
        return "no Redis is named: set camel.component.redis-delay.address to redis://host:6379, or"
                + " camel.component.redis-delay.configurationUri to a Redisson YAML file, or put a RedissonClient into the"
                + " registry";
    }

    private static Config read(CamelContext context, String uri) throws Exception {
        try (InputStream yaml = ResourceHelper.resolveMandatoryResourceAsInputStream(context, uri)) {
            return Config.fromYAML(yaml);
        } catch (Exception e) {
            throw new IllegalArgumentException(
                    "option 'configurationUri': " + uri + " cannot be read as a Redisson configuration: " + problem(e));
        }
    }

    /** What is wrong and where. A parser quotes the lines around it, and those may be the password: not shown. */
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

    private static Config make(ConnectionSettings settings) {
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
        set(config, server, "setUsername", settings.username());
        set(config, server, "setPassword", settings.password());
        return config;
    }

    /** Redisson 4.7 has these on the whole configuration and warns of those on the server's, which 3.x alone has. */
    private static void set(Config config, BaseConfig<?> server, String setter, String value) {
        if (value == null) {
            return;
        }
        try {
            Method method;
            Object target;
            try {
                method = Config.class.getMethod(setter, String.class);
                target = config;
            } catch (NoSuchMethodException e) {
                method = BaseConfig.class.getMethod(setter, String.class);
                target = server;
            }
            method.invoke(target, value);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Redisson has no " + setter, e);
        }
    }

    /** Where a configuration connects to. */
    static String describe(Config config) {
        if (config == null) {
            return "Redis";
        }
        Stream<String> addresses;
        if (config.isSingleConfig()) {
            addresses = Stream.of(config.useSingleServer().getAddress());
        } else if (config.isClusterConfig()) {
            addresses = config.useClusterServers().getNodeAddresses().stream();
        } else if (config.isSentinelConfig()) {
            addresses = config.useSentinelServers().getSentinelAddresses().stream();
        } else {
            return "Redis";
        }
        return addresses
                .filter(address -> address != null)
                .map(ConnectionSettings::withoutCredentials)
                .collect(Collectors.joining(","));
    }

    private static RuntimeCamelException unreachable(String address, RuntimeException error, String password) {
        // Redisson wraps the server's word ("WRONGPASS …") in a sentence of its own: both are worth reading.
        Set<String> reasons = new LinkedHashSet<>();
        boolean secret = false;
        int depth = 0;
        for (Throwable e = error; e != null && depth < 10; e = e.getCause(), depth++) {
            if (e.getMessage() != null) {
                reasons.add(e.getMessage());
                secret |= password != null && e.getMessage().contains(password);
            }
        }
        String reason = String.join("; ", reasons);
        if (secret) {
            reason = reason.replace(password, "xxxxxx");
        }
        return new RuntimeCamelException("Redis at " + address + " cannot be used: " + reason, secret ? null : error);
    }
}
