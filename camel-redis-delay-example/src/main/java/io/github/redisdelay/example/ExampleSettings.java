// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The settings that can be given from outside.
 *
 * @param dataFolder where the order book, the inbox and the embedded Redis keep their files; environment variable
 *     {@value #DATA}, by default {@code example-data} beside the example
 * @param redisAddress the Redis to use, such as {@code redis://host:6379}; environment variable
 *     {@value #REDIS_ADDRESS}, by default an embedded one is started
 * @param httpPort where orders and payments arrive by HTTP; environment variable {@value #HTTP_PORT}, by default 8080
 * @param consolePort where the console listens; environment variable {@value #CONSOLE_PORT}, by default 8400; 0 for any
 *     that is free
 * @param replay whether customers, orders and events of the data set are played; environment variable {@value #REPLAY}
 *     ({@code on} or {@code off}), by default they are
 * @param time how fast time passes in the shop; environment variable {@value #SPEED}, a factor from 1 to
 *     {@value #MAX_SPEED}, by default 3600: an hour of the shop takes a second
 * @param role what this process does; the first argument, {@code producer} or {@code consumer}, by default both
 */
record ExampleSettings(
        Path dataFolder,
        Optional<String> redisAddress,
        int httpPort,
        int consolePort,
        boolean replay,
        ShopTime time,
        Role role) {

    /** The parts of the example that a process can have. */
    enum Role {
        BOTH,
        /** Redis, the database, the console, HTTP, customers, partners and bank. */
        PRODUCER,
        /** The closing of orders, notifications, looks for refunds, and reminders; there can be several. */
        CONSUMER
    }

    static final String DATA = "EXAMPLE_DATA";
    static final String REDIS_ADDRESS = "REDIS_ADDRESS";
    static final String HTTP_PORT = "HTTP_PORT";
    static final String CONSOLE_PORT = "CONSOLE_PORT";
    static final String REPLAY = "REPLAY";
    static final String SPEED = "SPEED";

    private static final int MAX_SPEED = 100_000;

    /** The default of {@link #DATA}, set by the build so that it does not depend on where the example is started. */
    static final String DATA_PROPERTY = "example.data";

    static ExampleSettings of(Map<String, String> environment, Properties system, String... arguments) {
        String folder = value(environment, DATA).orElse(system.getProperty(DATA_PROPERTY, "example-data"));
        return new ExampleSettings(
                Path.of(folder).toAbsolutePath().normalize(),
                value(environment, REDIS_ADDRESS),
                port(HTTP_PORT, value(environment, HTTP_PORT).orElse("8080"), 1),
                port(CONSOLE_PORT, value(environment, CONSOLE_PORT).orElse("8400"), 0),
                onOff(value(environment, REPLAY).orElse("on")),
                speed(value(environment, SPEED).orElse("3600")),
                role(arguments));
    }

    Path inbox() {
        return dataFolder.resolve("inbox");
    }

    private static Optional<String> value(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).map(String::trim).filter(text -> !text.isEmpty());
    }

    private static Role role(String... arguments) {
        return switch (String.join(" ", arguments)) {
            case "" -> Role.BOTH;
            case "producer" -> Role.PRODUCER;
            case "consumer" -> Role.CONSUMER;
            default ->
                throw new ExampleException("Arguments '" + String.join(" ", arguments)
                        + "': write producer or consumer, or nothing for both in one process");
        };
    }

    private static int port(String name, String text, int least) {
        if (text.matches("[0-9]{1,5}")) {
            int port = Integer.parseInt(text);
            if (port >= least && port <= 65535) {
                return port;
            }
        }
        throw new ExampleException(name + "=" + text + ": it must be a port, " + least + " to 65535");
    }

    private static ShopTime speed(String text) {
        if (text.matches("[0-9]{1,6}")) {
            int speed = Integer.parseInt(text);
            if (speed >= 1 && speed <= MAX_SPEED) {
                return new ShopTime(speed);
            }
        }
        throw new ExampleException(SPEED + "=" + text + ": it must be a whole number, 1 to " + MAX_SPEED);
    }

    private static boolean onOff(String text) {
        return switch (text) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new ExampleException(REPLAY + "=" + text + ": it must be on or off");
        };
    }
}
