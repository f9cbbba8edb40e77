// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.queue.QueueNames;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The settings of a console; {@link RedisDelayConsole} has a method for each.
 *
 * @param host the address on which the console's own server listens
 * @param port its port; 0 for any that is free
 * @param hostNames the names by which browsers may call the console, besides {@code localhost}
 * @param access decides who may do what
 * @param actions false if the console changes nothing, whoever asks
 * @param bodies false if bodies are shown to nobody
 * @param hiddenHeaders the names of headers whose values are shown to nobody
 * @param redactor decides what is shown of contents; null for all
 * @param environment a word in the page's head, such as {@code PRODUCTION}; null for none
 * @param queues queues that are shown besides those that are found
 */
public record ConsoleOptions(
        String host,
        int port,
        List<String> hostNames,
        ConsoleAccess access,
        boolean actions,
        boolean bodies,
        Pattern hiddenHeaders,
        MessageRedactor redactor,
        String environment,
        List<String> queues) {

    /** Among the {@code hostNames}: any name. For servers that know their names themselves. */
    public static final String ANY_HOST_NAME = "*";

    public static final int DEFAULT_PORT = 8400;

    public static final String DEFAULT_HOST = "127.0.0.1";

    /** The names of headers that are hidden by default, in any case of letters. */
    public static final String DEFAULT_HIDDEN_HEADERS =
            "authorization|cookie|password|passwd|secret|token|api.?key|credential";

    private static final int ANY_CASE = Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;

    public static final ConsoleOptions DEFAULTS = new ConsoleOptions(
            DEFAULT_HOST,
            DEFAULT_PORT,
            List.of(),
            ConsoleAccess.localOnly(),
            false,
            true,
            Pattern.compile(DEFAULT_HIDDEN_HEADERS, ANY_CASE),
            null,
            null,
            List.of());

    /** @throws IllegalArgumentException naming the option that is wrong */
    public ConsoleOptions {
        Objects.requireNonNull(access, "access");
        if (host == null || host.isBlank()) {
            throw new IllegalArgumentException(
                    "host is empty: give an address of this machine, such as " + DEFAULT_HOST);
        }
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port is " + port + ": it must be from 0 (any) to 65535");
        }
        hostNames = hostNames.stream().map(ConsoleOptions::checkName).toList();
        queues = List.copyOf(queues);
        queues.forEach(name -> QueueNames.check("queues", name));
    }

    private static String checkName(String name) {
        if (!name.equals(ANY_HOST_NAME) && !name.matches("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]")) {
            throw new IllegalArgumentException("hostNames has '" + name
                    + "': give names as browsers have them, without scheme and port, such as queues.example.org");
        }
        return name.toLowerCase(Locale.ROOT);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withHost(String host) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withPort(int port) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withHostNames(List<String> hostNames) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withAccess(ConsoleAccess access) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withActions(boolean actions) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withBodies(boolean bodies) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withHiddenHeaders(String pattern) {
        Pattern compiled;
        try {
            compiled = Pattern.compile(pattern, ANY_CASE);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "hiddenHeaders is '" + pattern + "': give a regular expression such as " + DEFAULT_HIDDEN_HEADERS,
                    e);
        }
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, compiled, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withRedactor(MessageRedactor redactor) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withEnvironment(String environment) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }

    /** The same options with another one of this. */
    public ConsoleOptions withQueues(List<String> queues) {
        return new ConsoleOptions(
                host, port, hostNames, access, actions, bodies, hiddenHeaders, redactor, environment, queues);
    }
}
