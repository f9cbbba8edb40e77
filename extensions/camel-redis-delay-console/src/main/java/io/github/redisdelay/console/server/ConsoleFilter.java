// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import io.github.redisdelay.console.http.Request;
import io.github.redisdelay.console.http.Response;
import io.github.redisdelay.console.http.Router;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Answers the requests below a path in a servlet container, and hands on all others. Behind the filters that know the
 * users: the request's principal is the user.
 */
public final class ConsoleFilter implements Filter {

    private final Supplier<Router> router;
    private final String base;

    /**
     * @param router is asked with each request, such as {@code console::router}
     * @param path of the console below that of the application, such as {@code /redis-delay}
     * @throws IllegalArgumentException if it is none
     */
    public ConsoleFilter(Supplier<Router> router, String path) {
        if (!path.matches("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")) {
            throw new IllegalArgumentException("the console's path is '" + path
                    + "': it must be one such as /redis-delay, of letters, digits, dots, dashes and underscores");
        }
        this.router = router;
        this.base = path;
    }

    @Override
    public void doFilter(ServletRequest any, ServletResponse answer, FilterChain chain)
            throws IOException, ServletException {
        if (any instanceof HttpServletRequest request && answer instanceof HttpServletResponse response) {
            // As it was sent: a path that others have to decode first is none of the console's.
            String uri = request.getRequestURI();
            String context = request.getContextPath() == null ? "" : request.getContextPath();
            String path = uri.startsWith(context) ? uri.substring(context.length()) : uri;
            if (path.equals(base)) {
                send(Response.redirect(base.substring(base.lastIndexOf('/') + 1) + "/"), response);
                return;
            }
            if (path.startsWith(base + "/")) {
                send(router.get().answer(request(request, path.substring(base.length() + 1))), response);
                return;
            }
        }
        chain.doFilter(any, answer);
    }

    private static Request request(HttpServletRequest request, String path) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name.toLowerCase(Locale.ROOT), Collections.list(request.getHeaders(name)));
        }
        Caller caller = ServletCaller.of(request);
        return new Request(
                request.getMethod(),
                path,
                request.getQueryString(),
                headers,
                caller.peer(),
                caller.port(),
                caller.secure(),
                caller.forwarded(),
                caller.principal(),
                request.getInputStream());
    }

    private static void send(Response response, HttpServletResponse to) throws IOException {
        to.setStatus(response.status());
        response.headers().forEach(to::setHeader);
        to.setContentLength(response.body().length);
        to.getOutputStream().write(response.body());
    }
}
