// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.fleet;

import io.github.redisdelay.benchmark.lateness.LatenessRecorder;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.redisson.Redisson;
import org.redisson.config.Config;

/** A JVM with some consumers that tells on its standard output, ten times a second, what it has done, until it is killed. */
public final class FleetProcessMain {

    /** What a report begins with: then claims, what they published, first deliveries and the histogram of their lateness, in Base64. */
    static final String MARK = "fleet";

    private FleetProcessMain() {}

    /** @param arguments the address of Redis, the queue, the number of consumers, their options */
    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(4);
        LatenessRecorder recorder = new LatenessRecorder();
        // All that arrives; the parent ends this process before it measures the next.
        recorder.begin(0, Long.MAX_VALUE);
        Fleet fleet = Fleet.start(
                Redisson.create(config), Integer.parseInt(arguments[2]), List.of(arguments[1]), arguments[3], recorder);
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
