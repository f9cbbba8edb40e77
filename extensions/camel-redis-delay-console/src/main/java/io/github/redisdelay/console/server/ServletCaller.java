// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import io.github.redisdelay.console.http.Request;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.Collections;
import java.util.Objects;

/**
 * Reads who has sent a servlet's request. Filters and servers may have put the address into it that a header names, and
 * have hidden that header: whoever sent it was no local browser for all that.
 */
final class ServletCaller {

    /** Set by Tomcat where it has believed a header. */
    private static final String TOMCAT_FORWARDED = "org.apache.tomcat.request.forwarded";

    private ServletCaller() {}

    static Caller of(HttpServletRequest request) {
        ServletRequest first = request;
        while (first instanceof ServletRequestWrapper wrapper) {
            first = wrapper.getRequest();
        }
        boolean forwarded = !Objects.equals(first.getRemoteAddr(), request.getRemoteAddr())
                || Caller.isOfProxy(request.getProtocol())
                || Boolean.TRUE.equals(first.getAttribute(TOMCAT_FORWARDED))
                || !(first instanceof HttpServletRequest http)
                || Collections.list(http.getHeaderNames()).stream().anyMatch(Request::isOfProxy);
        Principal user = request.getUserPrincipal();
        return new Caller(
                request.getRemoteAddr(),
                request.getLocalPort(),
                request.isSecure(),
                user == null ? null : user.getName(),
                forwarded);
    }
}
