// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.net.UnknownHostException;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.apache.camel.util.HostUtils;

/** Makes failure handlers with this machine's clock, name and randomness. */
final class FailureHandlers {

    private static final String HOST = host();

    private FailureHandlers() {}

    static FailureHandler create(RedisDelayEndpoint endpoint) {
        RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
        return new FailureHandler(
                endpoint.retryPolicy(),
                endpoint.getConfiguration().isDeadLetter(),
                HOST,
                InstantSource.system(),
                random);
    }

    private static String host() {
        try {
            return HostUtils.getLocalHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
