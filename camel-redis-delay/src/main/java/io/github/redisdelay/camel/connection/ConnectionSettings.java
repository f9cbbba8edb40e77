// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.github.redisdelay.camel.option.OptionValues;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.support.jsse.SSLContextParameters;
import org.redisson.api.RedissonClient;

/**
 * The place of Redis and the login: an existing client, a Redisson configuration file, an address, or none of them yet.
 * Equal settings share a client.
 *
 * @param redisson a client that the user closes, or null
 * @param configurationUri a Redisson configuration in YAML, or null
 * @param address {@code redis://host:port} or {@code rediss://host:port} without credentials, or null
 * @param tls parameters for {@code rediss://}, or null for what the JVM trusts
 */
public record ConnectionSettings(
        RedissonClient redisson,
        String configurationUri,
        String address,
        String username,
        String password,
        int database,
        SSLContextParameters tls) {

    private static final int DEFAULT_PORT = 6379;
    private static final Pattern SHOWN = Pattern.compile("([A-Za-z][-+.0-9A-Za-z]*://)?(?:[^?#]*@)?"
            + "((?:\\[[0-9A-Fa-f:.]*]|[-.\\w]*)(?::[0-9]{1,5})?(?:/[0-9]{0,5})?)");
    private static final String HIDDEN = "…";

    /**
     * The settings of options that were set as this says; each may be null.
     *
     * @throws IllegalArgumentException naming the option that is wrong; credentials are not shown
     */
    public ConnectionSettings checked() {
        if (address != null) {
            if (configurationUri != null) {
                throw new IllegalArgumentException("options 'configurationUri' ("
                        + fileWithoutCredentials(configurationUri) + ") and 'address' are both set: set one of them");
            }
            return withServer();
        }
        String part = username != null
                ? "username"
                : password != null
                        ? "password"
                        : tls != null ? "sslContextParameters" : database != 0 ? "database" : null;
        if (part != null) {
            throw new IllegalArgumentException("option '" + part + "' is set without option 'address': it is used only"
                    + " with an address, set it in the RedissonClient or in the Redisson configuration file otherwise");
        }
        return new ConnectionSettings(
                configurationUri == null ? redisson : null, configurationUri, null, null, null, 0, null);
    }

    private ConnectionSettings withServer() {
        OptionValues.check("database", database, 0, Integer.MAX_VALUE, "0 or more");
        URI uri;
        try {
            uri = new URI(address);
        } catch (URISyntaxException e) {
            throw badAddress();
        }
        String scheme = uri.getScheme();
        boolean hasMore = uri.getQuery() != null || uri.getFragment() != null || uri.getHost() == null;
        if (!List.of("redis", "rediss").contains(scheme == null ? "" : scheme)
                || hasMore
                || !List.of("", "/").contains(uri.getPath())) {
            throw badAddress();
        }
        if (tls != null && scheme.equals("redis")) {
            throw new IllegalArgumentException("option 'address' '" + withoutCredentials(address)
                    + "' has no TLS and option 'sslContextParameters' is set: write rediss://host:6379 for TLS");
        }
        String user = username;
        String secret = password;
        if (uri.getUserInfo() != null) {
            // The settings keep credentials apart, so that the address can be logged.
            String[] parts = uri.getUserInfo().split(":", 2);
            if (secret == null) {
                secret = parts[parts.length - 1];
            }
            if (user == null && parts.length == 2 && !parts[0].isEmpty()) {
                user = parts[0];
            }
        }
        String server = scheme + "://" + uri.getHost() + ":" + (uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort());
        return new ConnectionSettings(null, null, server, user, secret, database, tls);
    }

    private IllegalArgumentException badAddress() {
        return new IllegalArgumentException("option 'address' '" + withoutCredentials(address)
                + "' is no address: write redis://host:6379, or rediss://host:6379 for TLS, and the number of the database"
                + " as option 'database'");
    }

    /**
     * An address that can be shown: scheme, host and port, and the number of a database. The address may be wrong in
     * any way, so this method does not read it as a URI: a slash in a password ends what a URI takes for the host.
     */
    public static String withoutCredentials(String address) {
        Matcher parts = SHOWN.matcher(address);
        return parts.matches() ? Objects.toString(parts.group(1), "") + parts.group(2) : HIDDEN;
    }

    /** The location of a file that can be shown: without credentials and query. */
    static String fileWithoutCredentials(String uri) {
        // A password may have any character, so all up to the last '@' may belong to it.
        String shown = uri.replaceFirst("//.*@", "//");
        int end = shown.indexOf('?');
        return end < 0 ? shown : shown.substring(0, end) + HIDDEN;
    }

    /** The same, with these parameters for TLS where it is used and has none of its own; they may be null. */
    ConnectionSettings withTls(SSLContextParameters global) {
        if (global == null || tls != null || address == null || !address.startsWith("rediss:")) {
            return this;
        }
        return new ConnectionSettings(redisson, configurationUri, address, username, password, database, global);
    }

    /** An address with the database, if that is not the first one. */
    static String withDatabase(String address, int database) {
        return database == 0 ? address : address + " database " + database;
    }

    /** The configuration without credentials. */
    @Override
    public String toString() {
        if (address != null) {
            return withDatabase(address, database);
        }
        if (configurationUri != null) {
            return fileWithoutCredentials(configurationUri);
        }
        return redisson != null ? "the given RedissonClient" : "nothing";
    }
}
