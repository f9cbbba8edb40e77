// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.camel.RedisDelayConstants;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.redisson.api.RedissonClient;

/**
 * How late the messages of 100 groups are, of one place each, while another group has 100 000 due messages. Their consumer is a route
 * with 16 slots.
 */
public final class NoisyGroup {

    private static final String QUEUE = "noisy";
    private static final String NOISY = "noisy";
    private static final int OTHERS = 100;
    private static final int PER_SECOND = 500;

    /** Beside each message of the others, while it lasts. */
    private static final int STEADILY = 20;

    /** For the messages that are due at one instant. */
    private static final long SCHEDULING_MICROS = TimeUnit.SECONDS.toMicros(5);

    private static final long PATIENCE_MILLIS = 20_000;

    /** How the messages of the noisy group come. */
    public enum Arrival {
        /** They do not. */
        NONE("others alone"),
        /** Due at once, one after the other. */
        STEADY("others beside a steady noisy group"),
        /** All due at one instant. */
        INSTANT("others beside a noisy instant");

        private final String parameter;

        Arrival(String parameter) {
            this.parameter = parameter;
        }

        /** Its name in {@code raw.csv}. */
        public String parameter() {
            return parameter;
        }
    }

    private NoisyGroup() {}

    /** Adds the lateness of the others to the figures of an experiment. */
    public static void run(Environment environment, Figures figures, String experiment) throws Exception {
        measure(environment, Arrival.NONE, 0); // for the compiler of the JVM
        for (int round = 1; round <= environment.rounds(); round++) {
            for (Arrival arrival : Arrival.values()) {
                Histogram micros = measure(environment, arrival, round);
                for (int percent : List.of(50, 99)) {
                    double late = micros.getValueAtPercentile(percent) / 1e3;
                    figures.add(experiment, Subject.CAMEL, arrival.parameter, round, "p" + percent, late, "ms");
                }
                figures.add(
                        experiment, Subject.CAMEL, arrival.parameter, round, "max", micros.getMaxValue() / 1e3, "ms");
            }
        }
    }

    private static Histogram measure(Environment environment, Arrival arrival, int round) throws Exception {
        environment.clear();
        long window = TimeUnit.SECONDS.toMicros(environment.quick() ? 2 : 8);
        int noisy = environment.quick() ? 10_000 : 100_000;
        LatenessRecorder recorder = new LatenessRecorder();
        RedissonClient redisson = environment.newRedisson();
        try (CamelReceiver receiver =
                        CamelReceiver.start(redisson, List.of(QUEUE), "concurrentConsumers=16", exchange -> {
                            if (!NOISY.equals(exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_GROUP))) {
                                recorder.arrived(exchange.getMessage().getBody(byte[].class));
                            }
                        });
                CamelSender sender = CamelSender.start(redisson, List.of(QUEUE))) {
            if (arrival == Arrival.INSTANT) {
                // In the middle of the window, which begins three seconds after the others do.
                long begin = Stamp.nowMicros() + SCHEDULING_MICROS;
                for (int i = 0; i < noisy; i++) {
                    sender.sendAt(0, begin + TimeUnit.SECONDS.toMicros(3) + window / 2, Environment.body(), NOISY);
                }
                sender.awaitStored();
                long left = begin - Stamp.nowMicros();
                if (left < 0) {
                    throw new IllegalStateException("scheduling took " + -left + " microseconds too long");
                }
                TimeUnit.MICROSECONDS.sleep(left);
            }
            OpenLoop.Sent sent = new OpenLoop(PER_SECOND, window, new Random(round))
                    .run(recorder, (number, due, body) -> {
                        sender.sendAt(0, due, body, "group " + number % OTHERS);
                        for (int i = 0; arrival == Arrival.STEADY && i < STEADILY; i++) {
                            sender.sendAt(0, Stamp.nowMicros(), Environment.body(), NOISY);
                        }
                    });
            sender.awaitStored();
            recorder.await(sent.messages(), PATIENCE_MILLIS);
            recorder.check(sent.messages());
            return recorder.lateness();
        } finally {
            redisson.shutdown();
        }
    }
}
