// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.net.URI;

/** A server named by {@code -Dredis.address}. It belongs to somebody else, so it is neither started nor stopped. */
final class ExternalRedisServer extends RedisServer {

    private final String address;
    private final URI uri;

    ExternalRedisServer(String address) {
        this.address = address;
        this.uri = URI.create(address);
        if (!"redis".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 0) {
            throw new IllegalArgumentException(
                    "-D" + ADDRESS_PROPERTY + "=" + address + ": expected redis://host:port");
        }
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public String host() {
        return uri.getHost();
    }

    @Override
    public int port() {
        return uri.getPort();
    }

    @Override
    public void start() {
        throw notOurs();
    }

    @Override
    public void stop() {
        throw notOurs();
    }

    @Override
    public void kill() {
        throw notOurs();
    }

    @Override
    public void close() {
        // Not ours to stop.
    }

    private IllegalStateException notOurs() {
        return new IllegalStateException("The server of -D" + ADDRESS_PROPERTY
                + " is not started or stopped by tests; use RedisServer.dedicated()");
    }
}
