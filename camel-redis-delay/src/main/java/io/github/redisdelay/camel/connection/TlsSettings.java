// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.KeyManagerFactorySpi;
import javax.net.ssl.ManagerFactoryParameters;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.TrustManagerFactorySpi;
import javax.net.ssl.X509KeyManager;
import org.apache.camel.CamelContext;
import org.apache.camel.support.jsse.AliasedX509ExtendedKeyManager;
import org.apache.camel.support.jsse.SSLContextParameters;

/**
 * Camel's parameters for TLS in the form in which Redisson takes them; {@link RedisConnection} gives them to it.
 *
 * @param trustManagers null for those of the JVM
 * @param keyManagers null for none
 * @param protocols those that are left by the parameters' names and filters
 * @param cipherSuites likewise
 */
public record TlsSettings(
        TrustManagerFactory trustManagers, KeyManagerFactory keyManagers, String[] protocols, String[] cipherSuites) {

    /**
     * Reads the parameters, with the key stores that they name.
     *
     * @throws IllegalArgumentException if something in them, or in a key store, cannot be used
     */
    public static TlsSettings of(CamelContext context, SSLContextParameters parameters) {
        try {
            // First: it hands the context to the managers, which find files and replace placeholders with it.
            SSLEngine engine = parameters.createSSLContext(context).createSSLEngine();
            engine.setUseClientMode(true);
            TrustManager[] trust = parameters.getTrustManagers() == null
                    ? null
                    : parameters.getTrustManagers().createTrustManagers();
            KeyManager[] keys = parameters.getKeyManagers() == null
                    ? null
                    : parameters.getKeyManagers().createKeyManagers();
            if (keys != null && parameters.getCertAlias() != null) {
                choose(keys, context.resolvePropertyPlaceholders(parameters.getCertAlias()));
            }
            return new TlsSettings(
                    trust == null ? null : factory(trust),
                    keys == null ? null : factory(keys),
                    engine.getEnabledProtocols(),
                    engine.getEnabledCipherSuites());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException("option 'sslContextParameters' cannot be used: " + e.getMessage(), e);
        }
    }

    private static void choose(KeyManager[] keys, String alias) throws GeneralSecurityException {
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] instanceof X509KeyManager manager) {
                try {
                    keys[i] = new AliasedX509ExtendedKeyManager(alias, manager);
                } catch (Exception e) {
                    throw new GeneralSecurityException(e);
                }
            }
        }
    }

    private static TrustManagerFactory factory(TrustManager[] managers) {
        TrustManagerFactorySpi given = new TrustManagerFactorySpi() {
            @Override
            protected void engineInit(KeyStore store) {}

            @Override
            protected void engineInit(ManagerFactoryParameters parameters) {}

            @Override
            protected TrustManager[] engineGetTrustManagers() {
                return managers.clone();
            }
        };
        return new TrustManagerFactory(given, null, "given") {};
    }

    private static KeyManagerFactory factory(KeyManager[] managers) {
        KeyManagerFactorySpi given = new KeyManagerFactorySpi() {
            @Override
            protected void engineInit(KeyStore store, char[] password) {}

            @Override
            protected void engineInit(ManagerFactoryParameters parameters) {}

            @Override
            protected KeyManager[] engineGetKeyManagers() {
                return managers.clone();
            }
        };
        return new KeyManagerFactory(given, null, "given") {};
    }
}
