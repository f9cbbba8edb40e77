// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Objects;
import org.redisson.api.RedissonClient;

/**
 * Where Redis is and how to log in: a client that exists, a Redisson configuration file, or an address; or none of them
 * yet. Equal settings share a client.
 *
 * @param redisson a client that belongs to somebody else, or null
 * @param configurationUri a Redisson configuration in YAML, or null
 * @param address {@code redis://host:port} or {@code rediss://host:port} without credentials, or null
 */
record ConnectionSettings(
        RedissonClient redisson,
        String configurationUri,
        String address,
        String username,
        String password,
        int database) {

    private static final int DEFAULT_PORT = 6379;

    /**
     * Reads the settings.
     *
     * @throws IllegalArgumentException naming the option that is wrong; credentials are not shown
     */
    static ConnectionSettings of(RedisDelayConfiguration options) {
        if (options.getConfigurationUri() != null && options.getAddress() != null) {
            throw new IllegalArgumentException("options 'configurationUri' (" + options.getConfigurationUri()
                    + ") and 'address' are both set: set one of them");
        }
        if (options.getAddress() == null) {
            String part = addressPart(options);
            if (part != null) {
                throw new IllegalArgumentException(
                        "option '" + part + "' is set without option 'address': it is used only"
                                + " with an address, set it in the RedissonClient or in the Redisson configuration file otherwise");
            }
            RedissonClient client = options.getConfigurationUri() == null ? options.getRedisson() : null;
            return new ConnectionSettings(client, options.getConfigurationUri(), null, null, null, 0);
        }
        return ofAddress(options);
    }

    private static String addressPart(RedisDelayConfiguration options) {
        if (options.getUsername() != null) {
            return "username";
        }
        if (options.getPassword() != null) {
            return "password";
        }
        return options.getDatabase() == 0 ? null : "database";
    }

    private static ConnectionSettings ofAddress(RedisDelayConfiguration options) {
        if (options.getDatabase() < 0) {
            throw new IllegalArgumentException(
                    "option 'database' is " + options.getDatabase() + ": it must be 0 or more");
        }
        String text = options.getAddress();
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw badAddress(text, "cannot be read");
        }
        String scheme = uri.getScheme();
        if (!"redis".equals(scheme) && !"rediss".equals(scheme)) {
            throw badAddress(text, "begins with neither redis:// nor rediss://");
        }
        if (uri.getHost() == null) {
            throw badAddress(text, "has no host");
        }
        if (!uri.getPath().isEmpty() && !uri.getPath().equals("/")) {
            throw badAddress(text, "has a path; the number of the database is the option 'database'");
        }
        if (uri.getQuery() != null || uri.getFragment() != null) {
            throw badAddress(text, "has a query or fragment");
        }
        String address = scheme + "://" + uri.getHost() + ":" + (uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort());
        String username = options.getUsername();
        String password = options.getPassword();
        if (uri.getUserInfo() != null) {
            // Moved out of the address, so that it can be logged.
            String[] parts = uri.getUserInfo().split(":", 2);
            if (password == null) {
                password = parts[parts.length - 1];
            }
            if (username == null && parts.length == 2 && !parts[0].isEmpty()) {
                username = parts[0];
            }
        }
        return new ConnectionSettings(null, null, address, username, password, options.getDatabase());
    }

    private static IllegalArgumentException badAddress(String text, String problem) {
        return new IllegalArgumentException("option 'address' '" + withoutCredentials(text) + "' " + problem
                + ": write redis://host:6379, or rediss://host:6379 for TLS");
    }

    /** An address that can be shown. */
    static String withoutCredentials(String address) {
        return address.replaceFirst("(//|^)[^/]*@", "$1");
    }

    /** Whether there is anything to connect to. */
    boolean isComplete() {
        return redisson != null || configurationUri != null || address != null;
    }

    /** A client is equal to itself only, whatever its class says. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ConnectionSettings that
                && redisson == that.redisson
                && Objects.equals(configurationUri, that.configurationUri)
                && Objects.equals(address, that.address)
                && Objects.equals(username, that.username)
                && Objects.equals(password, that.password)
                && database == that.database;
    }

    @Override
    public int hashCode() {
        return Objects.hash(System.identityHashCode(redisson), configurationUri, address, username, password, database);
    }

    /** What was configured, without credentials. */
    @Override
    public String toString() {
        if (address != null) {
            return database == 0 ? address : address + " database " + database;
        }
        if (configurationUri != null) {
            return configurationUri;
        }
        return redisson != null ? "the given RedissonClient" : "nothing";
    }
}
