// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.benchmark.server.RedisProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The common ground of all experiments: the Redis server, the settings, the bodies. */
public final class Environment implements AutoCloseable {

    /** The size of a body, in bytes. */
    public static final int BODY_BYTES = 200;

    /** To remove millions of keys takes long. */
    private static final int CONTROL_TIMEOUT_MILLIS = 120_000;

    /** Redisson cancels a request that has no connection after so many, of one to two seconds each. */
    private static final int PATIENT_ATTEMPTS = 40;

    private final boolean quick;
    private final Duration link;
    private final String address;
    private final RedisProcess redis; // null where another JVM has started it
    /** For looking at the server and emptying it, so that no experiment's own client is disturbed. */
    private final RedissonClient control;

    private Environment(boolean quick, Duration link, String address, RedisProcess redis) {
        this.quick = quick;
        this.link = link;
        this.address = address;
        this.redis = redis;
        this.control = newRedisson(address, CONTROL_TIMEOUT_MILLIS);
    }

    private static Environment of(boolean quick, Duration link, RedisProcess redis) {
        return new Environment(quick, link, redis.address(), redis);
    }

    /** That of another JVM, which has started the server at this address. */
    public static Environment join(boolean quick, Duration link, String address) {
        return new Environment(quick, link, address, null);
    }

    /**
     * Starts the server.
     *
     * @param link see {@link #link()}
     * @param binary empty to search for one
     */
    public static Environment start(boolean quick, Duration link, String binary, Path log)
            throws IOException, InterruptedException {
        return of(quick, link, RedisProcess.start(binary, log));
    }

    /** A further server of the same binary, for what can be measured at the same time; the caller closes it. */
    public Environment another() throws IOException, InterruptedException {
        return of(quick, link, RedisProcess.start(binary(), Files.createTempFile("redis", ".log")));
    }

    /** True for a smoke run: small numbers, one round. */
    public boolean quick() {
        return quick;
    }

    /** The delay in each direction between the measured clients and Redis that was asked for; zero for none. */
    public Duration link() {
        return link;
    }

    /** The number of rounds in which everything is measured. */
    public int rounds() {
        return quick ? 1 : 3;
    }

    /** {@code redis://host:port}. */
    public String address() {
        return address;
    }

    /** The path of the server's binary. */
    public String binary() {
        return redis.binary();
    }

    /** The server's version. */
    public String version() {
        return info("server").get("redis_version");
    }

    /** A client with Redisson's own settings; the caller shuts it down. */
    public RedissonClient newRedisson() {
        return newRedisson(address());
    }

    /** The same at the near end of a link. */
    public RedissonClient newRedisson(Link over) {
        return newRedisson(over.address());
    }

    /** The same for one whose requests, each of which searches a list, wait for a connection for longer than usual. */
    public RedissonClient newPatientRedisson(Link over) {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(over.address())
                .setTimeout(CONTROL_TIMEOUT_MILLIS)
                .setRetryAttempts(PATIENT_ATTEMPTS);
        return Redisson.create(config);
    }

    /** A client as the component makes one of an address: it does not look for Redisson's own objects in arguments. */
    public RedissonClient newComponentsRedisson(Link over) {
        Config config = new Config();
        config.setReferenceEnabled(false);
        config.useSingleServer().setAddress(over.address());
        return Redisson.create(config);
    }

    private static RedissonClient newRedisson(String address) {
        return newRedisson(address, new Config().useSingleServer().getTimeout());
    }

    private static RedissonClient newRedisson(String address, int timeoutMillis) {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setTimeout(timeoutMillis);
        return Redisson.create(config);
    }

    /** A client for questions about the server, not for what is measured. */
    public RedissonClient control() {
        return control;
    }

    /** A body of {@value #BODY_BYTES} bytes, the same each time, not shared. */
    public static byte[] body() {
        return body(BODY_BYTES);
    }

    /** A body of some size, ASCII text. */
    public static byte[] body(int bytes) {
        byte[] body = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            body[i] = (byte) ('a' + i % 26);
        }
        return body;
    }

    /** The same body as text. */
    public static String text(int bytes) {
        return new String(body(bytes), StandardCharsets.US_ASCII);
    }

    /** A section of {@code INFO}, such as {@code commandstats}: names and values as the server writes them. */
    public Map<String, String> info(String section) {
        String text = eval("return redis.call('INFO', '" + section + "')", RScript.ReturnType.VALUE);
        Map<String, String> values = new TreeMap<>();
        text.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#")) {
                values.put(line.substring(0, colon), line.substring(colon + 1));
            }
        });
        return values;
    }

    /** The seconds of CPU time that the server has used since it was started. */
    public double redisCpuSeconds() {
        Map<String, String> cpu = info("cpu");
        return Double.parseDouble(cpu.get("used_cpu_user")) + Double.parseDouble(cpu.get("used_cpu_sys"));
    }

    /** The number of bytes that the server's data takes. */
    public long redisMemory() {
        return Long.parseLong(info("memory").get("used_memory"));
    }

    /** Empties the server, and has this JVM collect its garbage. */
    public void clear() {
        control.getKeys().flushall();
        System.gc();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
    }

    private <T> T eval(String script, RScript.ReturnType type) {
        return control.getScript(StringCodec.INSTANCE).eval(RScript.Mode.READ_WRITE, script, type);
    }

    @Override
    public void close() {
        control.shutdown();
        if (redis != null) {
            redis.close();
        }
    }
}
