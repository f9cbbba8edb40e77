// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.memory;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.rates.RateSteps;
import io.github.redisdelay.benchmark.rates.Rates;

/** What a message takes of a server, its memory and its CPU time: short enough to compare many servers. */
public final class ServerCost implements Experiment {

    @Override
    public String name() {
        return RateSteps.SERVER;
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        int pending = environment.quick() ? 100_000 : 1_000_000;
        Memory.pendingOfOurs(environment, figures, name(), pending, Environment.BODY_BYTES);
        Rates.ofServer().run(environment, figures);
    }
}
