// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.net.UnknownHostException;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.apache.camel.util.HostUtils;

/** Makes the rules of a consumer with this machine's clock, name and randomness. */
final class FailureHandlers {

    /** The name of this host. */
    static final String HOST = host();

    private FailureHandlers() {}

    /**
     * @param buried told when a message was moved to the dead letters; must not block
     */
    static DeliveryRules create(ConsumerSettings settings, Runnable buried) {
        RandomGenerator random = () -> ThreadLocalRandom.current().nextLong();
        if (settings.deadLetters()) {
            return new DeadLetterHandler(settings.retries(), random);
        }
        return new FailureHandler(
                settings.retries(),
                new FailureHandler.GivenUp(settings.deadLetter(), settings.keepExpired(), buried),
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
