// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.ConsoleRequest;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A request as a server hands it over.
 *
 * @param method such as {@code GET}
 * @param path as it was sent, behind the console's own address and without its slash: {@code ""} for the page,
 *     {@code api/me}
 * @param query as it was sent, without the question mark; null if there is none
 * @param headers by their names in lower case, each with its values
 * @param peerOrNull the address from which it came; null where the server does not tell
 * @param port the port on which the server took it; 0 or less where the server does not tell
 * @param secure whether the browser came by TLS, as far as the server knows
 * @param forwarded true if the server knows that somebody has handed the request on; headers that say so are looked at
 *     anyway
 * @param principalOrNull the user whom the server has made sure of, or null
 * @param body is read once, and not beyond what the console takes
 */
public record Request(
        String method,
        String path,
        String query,
        Map<String, List<String>> headers,
        String peerOrNull,
        int port,
        boolean secure,
        boolean forwarded,
        String principalOrNull,
        InputStream body)
        implements ConsoleRequest {

    /** The headers that proxies add. A request with one of these does not come from the browser itself. */
    private static final Set<String> OF_PROXIES = Set.of(
            "forwarded",
            "via",
            "x-real-ip",
            "x-client-ip",
            "x-cluster-client-ip",
            "x-envoy-external-address",
            "x-azure-clientip",
            "x-amzn-trace-id",
            "true-client-ip",
            "fastly-client-ip",
            "cf-connecting-ip",
            "cdn-loop",
            "proxy-client-ip",
            "wl-proxy-client-ip");

    @Override
    public String peer() {
        return peerOrNull == null ? "" : peerOrNull;
    }

    @Override
    public boolean isLocal() {
        return !forwarded && isLoopback(peer()) && headers.keySet().stream().noneMatch(Request::isOfProxy);
    }

    /** Returns whether a header is one that proxies add. */
    public static boolean isOfProxy(String name) {
        String lower = name.toLowerCase(Locale.ROOT).replace('_', '-');
        return OF_PROXIES.contains(lower) || lower.startsWith("x-forwarded") || lower.startsWith("x-original-");
    }

    @Override
    public Optional<String> header(String name) {
        List<String> values = values(name);
        return values.size() == 1 ? Optional.of(values.get(0)) : Optional.empty();
    }

    @Override
    public Optional<String> principal() {
        return Optional.ofNullable(principalOrNull);
    }

    /** All values of a header. */
    List<String> values(String name) {
        return headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }

    /** Returns whether a text is a loopback address. A name is none: nobody is asked for it. */
    static boolean isLoopback(String text) {
        String address = text.replaceFirst("^\\[([^\\]]*)]$", "$1").replaceFirst("%[A-Za-z0-9_.-]*$", "");
        if (!address.matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}") && !address.matches("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")) {
            return false;
        }
        try {
            return InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
