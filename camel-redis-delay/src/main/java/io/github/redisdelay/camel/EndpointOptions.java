// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.Set;
import java.util.TreeSet;

/** Decides which of the component's options an endpoint takes over. */
final class EndpointOptions {

    private EndpointOptions() {}

    /**
     * The component's options without those that an endpoint replaces as a whole: a connection or a delivery time that the
     * endpoint names must not be mixed with parts of the component's.
     *
     * @param own the names of the options that the endpoint sets
     * @throws IllegalArgumentException if the endpoint sets a part of a connection that it cannot change, or the component what
     *     only an endpoint can
     */
    static RedisDelayConfiguration inherit(RedisDelayConfiguration component, Set<String> own) {
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        names.addAll(own);
        checkChooses("all", component.isAll());
        checkChooses("exceptionClass", component.getExceptionClass() != null);
        checkChooses("reason", component.getReason() != null);
        checkChooses("routeId", component.getRouteId() != null);
        RedisDelayConfiguration options = component.copy();
        if (names.contains("delay") || names.contains("deliverAt")) {
            options.setDelay(null);
            options.setDeliverAt(null);
        }
        boolean client = names.contains("redisson");
        boolean file = names.contains("configurationUri");
        boolean address = names.contains("address");
        String part = first(names, "username", "password", "database", "sslContextParameters");
        if ((client && (file || address)) || (file && address)) {
            throw new IllegalArgumentException(
                    "more than one of the options 'redisson', 'configurationUri' and 'address' is set: set one of them");
        }
        if (part != null && !address && (client || file || component.getAddress() == null)) {
            throw new IllegalArgumentException("option '" + part + "' is set without option 'address': it is used only"
                    + " with an address, set it in the RedissonClient or in the Redisson configuration file otherwise");
        }
        if (client || file || address) {
            options.setRedisson(null);
            options.setConfigurationUri(null);
            options.setAddress(null);
            options.setUsername(null);
            options.setPassword(null);
            options.setDatabase(0);
            options.setSslContextParameters(null);
        }
        return options;
    }

    /** What an operation acts on has to be said where it is asked for, and not for all operations of all queues. */
    private static void checkChooses(String option, boolean set) {
        if (set) {
            throw new IllegalArgumentException(
                    "option '" + option + "' is set on the component, where it would choose for every"
                            + " redrive, purge and promote: set it on the endpoint that is meant");
        }
    }

    private static String first(Set<String> names, String... candidates) {
        for (String candidate : candidates) {
            if (names.contains(candidate)) {
                return candidate;
            }
        }
        return null;
    }
}
