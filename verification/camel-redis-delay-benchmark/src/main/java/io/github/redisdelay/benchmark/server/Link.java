// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.server;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.testkit.FaultyProxy;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The way from the measured clients to Redis: direct, or through a proxy that holds up everything by a delay in each
 * direction.
 */
public final class Link implements AutoCloseable {

    /** The usual time between two machines of one data centre, or less. */
    public static final Duration USUAL = Duration.ofNanos(500_000);

    private static final Pattern MILLIS = Pattern.compile("([0-9]+(?:\\.[0-9]{1,3})?)ms");

    private final String address;
    private final Duration delay;
    private final FaultyProxy proxy; // null for a direct link, and for one of another JVM

    private Link(String address, Duration delay, FaultyProxy proxy) {
        this.address = address;
        this.delay = delay;
        this.proxy = proxy;
    }

    /** Opens a link to the server. @param delay in each direction; zero for a direct one */
    public static Link to(Environment environment, Duration delay) {
        if (delay.isZero()) {
            return new Link(environment.address(), delay, null);
        }
        URI server = URI.create(environment.address());
        FaultyProxy proxy = new FaultyProxy(server.getHost(), server.getPort());
        proxy.delay(delay);
        return new Link(proxy.address(), delay, proxy);
    }

    /** A link that another JVM has opened, and closes. */
    public static Link join(String address, Duration delay) {
        return new Link(address, delay, null);
    }

    /**
     * The delay in each direction that {@code -Dbenchmark.link} says, such as {@code 0.5ms}; zero if it says nothing.
     */
    public static Duration delay(String option) {
        if (option.isEmpty()) {
            return Duration.ZERO;
        }
        Matcher matcher = MILLIS.matcher(option);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("-Dbenchmark.link is " + option
                    + ": it must be milliseconds with up to three decimals, such as 0.5ms");
        }
        return Duration.ofNanos(
                new BigDecimal(matcher.group(1)).scaleByPowerOfTen(6).longValueExact());
    }

    /** {@code redis://host:port} at the near end. */
    public String address() {
        return address;
    }

    public Duration delay() {
        return delay;
    }

    public boolean direct() {
        return delay.isZero();
    }

    /** The parameter with what the link is added to it, if it is no direct one. */
    public String parameter(String parameter) {
        return direct()
                ? parameter
                : parameter + " link="
                        + BigDecimal.valueOf(delay.toNanos(), 6)
                                .stripTrailingZeros()
                                .toPlainString() + "ms";
    }

    @Override
    public void close() {
        if (proxy != null) {
            proxy.close();
        }
    }
}
