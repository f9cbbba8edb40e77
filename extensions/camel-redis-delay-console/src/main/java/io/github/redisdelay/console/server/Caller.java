// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/**
 * The address and the user of a request, and the way it came.
 *
 * @param peer null if it cannot be found out
 * @param port the port on which the server took it; 0 if it cannot be found out
 * @param secure whether the browser came by TLS, as far as the server knows
 * @param forwarded true if somebody has handed the request on
 * @param principal null if there is none
 */
record Caller(String peer, int port, boolean secure, String principal, boolean forwarded) {

    /** Set by platform-http: an address and its port. */
    private static final String VERTX_PEER = "CamelVertxPlatformHttpRemoteAddress";

    private static final String VERTX_LOCAL = "CamelVertxPlatformHttpLocalAddress";

    private static final String VERTX_USER = "CamelVertxPlatformHttpAuthenticatedUser";

    private static final String SERVLET_REQUEST = "jakarta.servlet.http.HttpServletRequest";

    /**
     * Reads a message that one of Camel's HTTP components has made. Their classes are looked at by the names of their
     * methods: the console has none of those components.
     */
    static Caller of(Message message) {
        Object peer = message.getHeader(VERTX_PEER);
        Object request = call(message, "getRequest");
        if (peer != null) {
            return new Caller(
                    peer instanceof CharSequence ? null : text(call(peer, "hostAddress")),
                    call(message.getHeader(VERTX_LOCAL), "port") instanceof Integer port ? port : 0,
                    message.getHeader(Exchange.HTTP_URL, "", String.class).startsWith("https:"),
                    text(call(message.getHeader(VERTX_USER), "subject")),
                    isOfProxy(String.valueOf(call(request, "version"))));
        }
        // camel-jetty, camel-servlet, and platform-http on Spring Boot
        return request != null && isA(SERVLET_REQUEST, request.getClass())
                ? ServletCaller.of((HttpServletRequest) request)
                : new Caller(null, 0, false, null, false);
    }

    /**
     * Returns whether no browser speaks so: nginx does by default, which tells in no header that it hands a request on.
     */
    static boolean isOfProxy(String protocol) {
        return "HTTP/1.0".equals(protocol) || "HTTP_1_0".equals(protocol);
    }

    private static boolean isA(String name, Class<?> type) {
        return type != null
                && (type.getName().equals(name)
                        || isA(name, type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(each -> isA(name, each)));
    }

    private static String text(Object value) {
        return value instanceof String text ? text : null;
    }

    /** Calls a public method without parameters; returns null if there is no such method. */
    private static Object call(Object target, String name) {
        if (target == null) {
            return null;
        }
        Method method = find(target.getClass(), name);
        try {
            return method == null ? null : method.invoke(target);
        } catch (IllegalAccessException | InvocationTargetException e) {
            return null;
        }
    }

    /** The method as a public class or interface declares it, however hidden the class is that implements it. */
    private static Method find(Class<?> type, String name) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            Method found = Modifier.isPublic(each.getModifiers()) ? declared(each, name) : null;
            if (found != null) {
                return found;
            }
            for (Class<?> shown : each.getInterfaces()) {
                found = find(shown, name);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static Method declared(Class<?> type, String name) {
        try {
            return type.getMethod(name);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
