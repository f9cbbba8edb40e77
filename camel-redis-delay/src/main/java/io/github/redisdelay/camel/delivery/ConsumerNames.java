// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.util.InetAddressUtil;

/**
 * The names of consumers that have no route: the name of their queue; from the second consumer of a queue on, a number is
 * added. Thread-safe.
 */
public final class ConsumerNames {

    /** The name of this host. */
    public static final String HOST = Objects.requireNonNullElse(InetAddressUtil.getLocalHostNameSafe(), "unknown");

    private final Map<String, Integer> given = new ConcurrentHashMap<>();

    /** A name that no other consumer has. */
    public String next(String queue) {
        int number = given.merge(queue, 1, Integer::sum);
        return number == 1 ? queue : queue + "-" + number;
    }

    /** A name by which people know a consumer among all those of a queue, wherever they run. */
    static String full(String name) {
        return HOST + "/" + name + "/" + ProcessHandle.current().pid();
    }
}
