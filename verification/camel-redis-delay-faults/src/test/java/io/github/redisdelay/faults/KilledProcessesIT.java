// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.faults.FaultProcess.Death;
import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * JVMs of producers and consumers die under load, at random moments and at each step: nothing is lost, nothing early,
 * nothing comes twice without a cause.
 */
@Tag("faults")
class KilledProcessesIT {

    /** How many are killed at random moments in each round. */
    private static final int KILLS = 6;

    @TempDir
    static Path directory;

    private static SideBySide<Death> deaths;

    @BeforeAll
    static void begin() {
        deaths = new SideBySide<>(3, List.of(Death.values()), KilledProcessesIT::run);
    }

    @AfterAll
    static void end() {
        deaths.close();
    }

    @Test
    void should_lose_nothing_when_JVMs_are_killed_at_random_moments() throws Exception {
        Experiment.reach(Where.PROCESSES_KILLED, seed -> {
            Path own = Files.createDirectory(directory.resolve("kills-" + seed));
            try (Experiment experiment = new Experiment("SIGKILL at random moments", seed)) {
                FaultChild.killAtRandom(experiment, own, experiment.server.address(), 1, KILLS * Experiment.rounds());
                return experiment.reached();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void should_lose_nothing_when_a_JVM_dies(Death death) throws Exception {
        deaths.result(death);
    }

    private static void run(Death death) throws Exception {
        if (death.ofProducer()) {
            run(death, Experiment.newSeed());
        } else {
            Experiment.reach(Where.PROCESSES_KILLED, seed -> run(death, seed));
        }
    }

    private static RareStates run(Death death, long seed) throws Exception {
        int rounds = Experiment.rounds();
        try (Experiment experiment = new Experiment("death " + death, seed)) {
            Path own = Files.createDirectory(directory.resolve(death + "-" + seed));
            long inFlight = 0;
            // The other side works in this JVM: it does not die.
            try (Survivors survivors = new Survivors(experiment)) {
                if (death.ofProducer()) {
                    survivors.consume();
                }
                for (int round = 0; round < rounds; round++) {
                    try (FaultChild child =
                            FaultChild.start(experiment, own, death.ofProducer(), death + "-" + round, death)) {
                        if (!death.ofProducer()) {
                            // Else the messages would be late by the start of a JVM.
                            experiment.awaitConsumers(round + 1);
                            survivors.produce();
                        }
                        assertThat(child.ended()).isEqualTo(FaultChild.KILLED);
                    }
                    // A producer that has died leaves no load.
                    inFlight += death.ofProducer() ? experiment.inFlight() : experiment.inFlightUnderLoad();
                }
                if (!death.ofProducer()) {
                    survivors.consume();
                    experiment.healed();
                }
                survivors.endProducer();
                experiment.awaitEmpty();
                experiment.probe("probe");
                experiment.probeEach("probes");
            }
            experiment.judge(rounds, inFlight);
            return experiment.reached();
        }
    }
}
