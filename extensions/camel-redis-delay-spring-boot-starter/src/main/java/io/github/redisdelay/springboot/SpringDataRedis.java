// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import io.github.redisdelay.camel.RedisDelayConfiguration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The part of {@code spring.data.redis} that names a single server, read from the environment: the classes that Spring
 * Boot has for it are others in version 4. What is null is not set.
 *
 * @param url stands for host, port, username, password, TLS and database, whatever those say
 * @param ssl {@code enabled}, or {@code bundle}, which only Redisson's starter can use
 */
record SpringDataRedis(
        String url,
        String host,
        Integer port,
        String username,
        String password,
        Integer database,
        Ssl ssl,
        Map<String, String> sentinel,
        Map<String, String> cluster,
        Map<String, String> masterreplica) {

    private static final Pattern DATABASE = Pattern.compile("(?<server>.*[^/])/(?<database>\\d{1,5})?");

    record Ssl(Boolean enabled, String bundle) {}

    /** The settings; empty if they name no server, or one that needs more than an address. */
    static Optional<SpringDataRedis> in(Environment environment) {
        return Optional.ofNullable(Binder.get(environment)
                        .bind("spring.data.redis", SpringDataRedis.class)
                        .orElse(null))
                .filter(SpringDataRedis::isOneServer);
    }

    private boolean isOneServer() {
        return (url != null || host != null || port != null)
                && sentinel == null
                && cluster == null
                && masterreplica == null
                && (ssl == null || ssl.bundle == null);
    }

    /** Sets the address, and what belongs to it where that is not set. */
    void applyTo(RedisDelayConfiguration configuration) {
        int number;
        if (url == null) {
            boolean tls = ssl != null && Boolean.TRUE.equals(ssl.enabled);
            String name = host == null ? "localhost" : host;
            configuration.setAddress((tls ? "rediss://" : "redis://") + (name.contains(":") ? "[" + name + "]" : name)
                    + ":" + (port == null ? 6379 : port));
            if (configuration.getUsername() == null && configuration.getPassword() == null) {
                configuration.setUsername(username);
                configuration.setPassword(password);
            }
            number = database == null ? 0 : database;
        } else {
            Matcher parts = DATABASE.matcher(url);
            boolean numbered = parts.matches();
            configuration.setAddress(numbered ? parts.group("server") : url);
            number = numbered && parts.group("database") != null ? Integer.parseInt(parts.group("database")) : 0;
        }
        if (configuration.getDatabase() == 0) {
            configuration.setDatabase(number);
        }
    }
}
