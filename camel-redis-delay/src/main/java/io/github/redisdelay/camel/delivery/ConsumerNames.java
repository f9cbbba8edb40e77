// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.Navigate;
import org.apache.camel.Processor;
import org.apache.camel.util.HostUtils;

/**
 * The names of consumers that have no route. A name is the class of the bean whose method has {@code @Consume}, or the
 * queue; from the second consumer of a name on, a number is added. Thread-safe.
 */
public final class ConsumerNames {

    /** As Camel shows the processor of a bean, whose class is in a part of Camel that the component does not need. */
    private static final Pattern BEAN = Pattern.compile("BeanProcessor\\[(?:[\\w]+\\.)*([\\w$]+)");

    /** The name of this host. */
    public static final String HOST = host();

    private final Map<String, Integer> given = new ConcurrentHashMap<>();

    /** A name that no other consumer has. */
    public String next(Processor processor, String queue) {
        String name = bean(processor);
        if (name == null) {
            name = queue;
        }
        int number = given.merge(name, 1, Integer::sum);
        return number == 1 ? name : name + "-" + number;
    }

    /** A name by which people know a consumer among all those of a queue, wherever they run. */
    static String full(String name) {
        return HOST + "/" + name + "/" + ProcessHandle.current().pid();
    }

    private static String host() {
        try {
            return HostUtils.getLocalHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    private static String bean(Processor processor) {
        List<?> methods = processor instanceof Navigate<?> several && several.hasNext() ? several.next() : List.of();
        Matcher bean = BEAN.matcher(methods.isEmpty() ? "" : String.valueOf(methods.get(0)));
        return bean.find() ? bean.group(1).replace('$', '.') : null;
    }
}
