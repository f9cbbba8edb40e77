// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Set;

/**
 * The check of the URLs that the shop calls, since they come from outside.
 *
 * <p>{@code toD} takes whatever it is given for an endpoint: {@code file:}, {@code exec:}, options of the HTTP component
 * behind a question mark, a server of the internal network. So only plain http URLs of known hosts pass, without a query.
 */
public final class NotificationUrl {

    /** The header with which the URL travels through the queue. Not one of Camel's: those are not stored. */
    static final String HEADER = "notifyUrl";

    /** The partners of this example live here. */
    private static final Set<String> HOSTS = Set.of("localhost");

    private NotificationUrl() {}

    /** @throws IllegalArgumentException if the shop does not call it */
    static void check(String url) {
        String problem = problem(url);
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
    }

    /** The reason why the shop does not call this URL, or null if it does. */
    public static String problem(String url) {
        if (url == null) {
            return "there is no notifyUrl";
        }
        try {
            URI uri = new URI(url);
            boolean plain = "http".equals(uri.getScheme())
                    && uri.getRawUserInfo() == null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null;
            if (plain && uri.getHost() != null && HOSTS.contains(uri.getHost()) && url.length() <= 200) {
                return null;
            }
        } catch (URISyntaxException e) {
            // Told below.
        }
        return "notifyUrl '" + url + "': it must be http://<host>:<port>/<path> without a query, and the host one of "
                + HOSTS;
    }
}
