// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.benchmark.lateness.CamelSender;
import io.github.redisdelay.benchmark.lateness.LatenessRecorder;
import io.github.redisdelay.benchmark.lateness.OpenLoop;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A JVM with some consumers that tells on its standard output, ten times a second, what it has done, until it is
 * killed.
 */
public final class FleetProcessMain {

    /**
     * The beginning of a report. Claims, publications, first deliveries and the histogram of lateness follow, in
     * Base64.
     */
    static final String MARK = "fleet";

    private static final int WARM_UP_RATE = 500;

    private static final long WARM_UP_MICROS = TimeUnit.SECONDS.toMicros(2);

    private FleetProcessMain() {}

    /** @param arguments the address of Redis, the queue, the number of consumers, their options */
    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(4);
        RedissonClient redisson = Redisson.create(config);
        LatenessRecorder recorder = new LatenessRecorder();
        warmUp(redisson, arguments[1] + "-" + ProcessHandle.current().pid(), arguments[3], recorder);
        // All that arrives; the parent ends this process before it measures the next.
        recorder.begin(0, Long.MAX_VALUE);
        Fleet fleet =
                Fleet.start(redisson, Integer.parseInt(arguments[2]), List.of(arguments[1]), arguments[3], recorder);
        report(fleet, recorder);
    }

    /** Delivers messages of a queue of its own: the first ones are late by as long as it takes to load classes. */
    private static void warmUp(RedissonClient redisson, String queue, String options, LatenessRecorder recorder)
            throws Exception {
        List<String> queues = List.of(queue);
        try (Fleet fleet = Fleet.start(redisson, 1, queues, options, recorder);
                CamelSender sender = CamelSender.start(redisson, queues)) {
            OpenLoop.Sent sent = new OpenLoop(WARM_UP_RATE, WARM_UP_MICROS, new Random(1))
                    .run(recorder, (number, due, body) -> sender.sendAt(0, due, body));
            sender.awaitStored();
            if (!recorder.await(sent.messages(), 60_000)) {
                throw new IllegalStateException("the messages before the measurement do not arrive");
            }
        }
    }

    private static void report(Fleet fleet, LatenessRecorder recorder) throws Exception {
        while (true) {
            Histogram lateness = recorder.lateness().copy();
            ByteBuffer bytes = ByteBuffer.allocate(lateness.getNeededByteBufferCapacity());
            int length = lateness.encodeIntoCompressedByteBuffer(bytes);
            System.out.println(String.join(
                    " ",
                    MARK,
                    Long.toString(fleet.claims()),
                    Long.toString(fleet.published()),
                    Long.toString(recorder.delivered()),
                    Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length))));
            System.out.flush();
            if (System.out.checkError()) {
                System.exit(0); // the parent is gone
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }
}
