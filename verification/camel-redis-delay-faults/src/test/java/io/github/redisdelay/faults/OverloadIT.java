// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Too much of everything: it takes longer, and nothing is lost, grows without bound or spins. */
@Tag("faults")
class OverloadIT {

    private interface Run {
        void now() throws Exception;
    }

    /** More than usual of something, each on a server of its own. What was measured goes to the log. */
    private enum Overload {
        PENDING_AT_A_RESTART(() -> PendingRestart.run(Experiment.rounds() == 1 ? 200_000 : 5_000_000)),
        MANY_QUEUES(ManyQueues::run),
        SLOW_CONSUMER(SlowConsumer::run),
        SAME_MILLISECOND(SameMillisecond::run),
        PRODUCER_FLOOD(ProducerFlood::run),
        RESCHEDULE_LOOP(RescheduleLoop::run),
        FAILING_ROUTE(FailingRoute::run),
        LARGE_BODY(LargeBody::run);

        private final Run run;

        Overload(Run run) {
            this.run = run;
        }
    }

    private static SideBySide<Overload> experiments;

    @BeforeAll
    static void begin() {
        experiments = new SideBySide<>(2, List.of(Overload.values()), overload -> overload.run.now());
    }

    @AfterAll
    static void end() {
        experiments.close();
    }

    @ParameterizedTest
    @EnumSource
    void should_stand(Overload overload) throws Exception {
        experiments.result(overload);
    }
}
