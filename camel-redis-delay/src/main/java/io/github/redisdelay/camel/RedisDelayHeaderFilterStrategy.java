// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import org.apache.camel.support.DefaultHeaderFilterStrategy;

/**
 * The headers that are neither stored nor restored by default: Camel's own, {@code Camel*} and {@code
 * org.apache.camel.*}, in any letter case.
 *
 * <p>A strategy that replaces this one may drop more. These stay out whatever it says: they direct components, and
 * others may be able to write to Redis (CVE-2025-27636 and those after it). So do names that are empty or have a
 * control character.
 */
public class RedisDelayHeaderFilterStrategy extends DefaultHeaderFilterStrategy {

    public RedisDelayHeaderFilterStrategy() {
        // Compared with the name as it is and in lower case.
        setLowerCase(true);
        setOutFilterStartsWith("camel", "org.apache.camel.");
        setInFilterStartsWith("camel", "org.apache.camel.");
    }
}
