// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.redisson.config.Config;

/**
 * The passwords in a Redisson configuration, which no error may show: those of Redis, of key stores, and in addresses.
 */
final class Secrets {

    private final Set<String> secrets = new LinkedHashSet<>();

    private Secrets() {}

    /** @param password a password that is set beside the configuration, or null */
    static Secrets of(Config config, String password) {
        Secrets secrets = new Secrets();
        secrets.add(password);
        secrets.addPasswords(config);
        RedisConnection.Servers servers = RedisConnection.Servers.of(config);
        if (servers != null) {
            secrets.addPasswords(servers.settings());
            servers.addresses().forEach(secrets::addPassword);
        }
        return secrets;
    }

    /**
     * Finds passwords by the names of their getters: which there are, and where, differs between versions of Redisson.
     */
    private void addPasswords(Object config) {
        for (Method method : config.getClass().getMethods()) {
            if (method.getName().matches("get\\w*Password")
                    && method.getParameterCount() == 0
                    && method.getReturnType() == String.class) {
                try {
                    add((String) method.invoke(config));
                } catch (ReflectiveOperationException e) {
                    // This configuration has no such password.
                }
            }
        }
    }

    private void addPassword(String address) {
        int end = address.lastIndexOf('@');
        if (end >= 0) {
            String credentials = address.substring(address.indexOf("//") + 2, end);
            String password = credentials.substring(credentials.indexOf(':') + 1);
            add(password);
            // An error about an address that cannot be read may quote a part of it.
            Stream.of(password.split("[:@/?#]"))
                    .filter(part -> part.length() > 3)
                    .forEach(this::add);
        }
    }

    private void add(String secret) {
        if (secret != null && !secret.isEmpty()) {
            secrets.add(secret);
        }
    }

    /** A text with its passwords replaced. */
    String hide(String text) {
        String shown = text;
        for (String secret : secrets) {
            shown = shown.replace(secret, "xxxxxx");
        }
        return shown;
    }
}
