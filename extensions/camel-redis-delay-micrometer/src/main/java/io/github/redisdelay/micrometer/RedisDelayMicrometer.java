// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.micrometer;

import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.queue.Timers;
import io.micrometer.core.instrument.MeterRegistry;

/** The module for a component that has found a registry. Its service file names it. */
public final class RedisDelayMicrometer implements Meters.Module {

    @Override
    public Meters meters(Object registry, String context, String component, Timers timers) {
        return new MicrometerMeters((MeterRegistry) registry, context, component, timers);
    }
}
