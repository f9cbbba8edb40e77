// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import io.netty.handler.ssl.util.KeyManagerFactoryWrapper;
import io.netty.handler.ssl.util.TrustManagerFactoryWrapper;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
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
            return new TlsSettings(
                    trust == null ? null : new TrustManagerFactoryWrapper(trust[0]),
                    parameters.getKeyManagers() == null ? null : new KeyManagerFactoryWrapper(key(context, parameters)),
                    engine.getEnabledProtocols(),
                    engine.getEnabledCipherSuites());
        } catch (Exception e) {
            throw new IllegalArgumentException("option 'sslContextParameters' cannot be used: " + e.getMessage(), e);
        }
    }

    private static KeyManager key(CamelContext context, SSLContextParameters parameters) throws Exception {
        KeyManager key = parameters.getKeyManagers().createKeyManagers()[0];
        String alias = parameters.getCertAlias();
        return alias != null && key instanceof X509KeyManager manager
                ? new AliasedX509ExtendedKeyManager(context.resolvePropertyPlaceholders(alias), manager)
                : key;
    }
}
