// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.door;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.Principal;
import org.apache.camel.Message;

/**
 * The address and the user of a request that a component of Camel's has received. Its classes are looked at by the names of their
 * methods: the console has none of those components.
 *
 * @param peer null if it cannot be found out
 * @param principal null if there is none
 */
record Caller(String peer, String principal) {

    /** Set by platform-http: an address and its port. */
    private static final String VERTX_PEER = "CamelVertxPlatformHttpRemoteAddress";

    private static final String VERTX_USER = "CamelVertxPlatformHttpAuthenticatedUser";

    static Caller of(Message message) {
        Object peer = message.getHeader(VERTX_PEER);
        if (peer != null) {
            return new Caller(
                    peer instanceof CharSequence ? null : text(call(peer, "hostAddress")),
                    text(call(message.getHeader(VERTX_USER), "subject")));
        }
        Object request = call(message, "getRequest"); // camel-jetty, camel-servlet, and platform-http on Spring Boot
        Object user = call(request, "getUserPrincipal");
        return new Caller(
                text(call(request, "getRemoteAddr")), user instanceof Principal principal ? principal.getName() : null);
    }

    private static String text(Object value) {
        return value instanceof String text ? text : null;
    }

    /** What a public method without parameters returns; null if there is no such method. */
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
            Method found = java.lang.reflect.Modifier.isPublic(each.getModifiers()) ? declared(each, name) : null;
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
