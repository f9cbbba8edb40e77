// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.camel.migration.ImportCodec;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.ConvertedPayload;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.ImportOptions;
import io.github.redisdelay.queue.ImportReport;
import io.github.redisdelay.queue.ImportSource;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The process that imports from a delayed queue of Redisson's, again and again, or takes what was imported. It can be killed at any moment,
 * and ends when its standard input ends.
 *
 * <p>Arguments: {@code import} or {@code consume}; the address of Redis; the queue, which has the same name on both sides; the file that
 * gets a line for each slice that was moved, or for each delivery: its text, the message's id, the attempt and when it was due. To import: the {@link
 * ImportCodec}, and {@code due} or {@code everything}.
 */
public final class NewQueueProcess {

    /** So that what a killed consumer held comes again soon. */
    private static final Duration LEASE = Duration.ofSeconds(2);

    private static final long WORK_MILLIS = 10;
    private static final long LONGEST_PAUSE_MICROS = 20_000; // short: many are killed in the middle of an import

    private static volatile boolean ended; // set by the thread that reads the input, read by the main thread

    private NewQueueProcess() {}

    public static void main(String[] args) throws Exception {
        RedissonClient redisson = connect(args[1]);
        DelayQueueClient client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        DelayQueue queue = client.queue(args[2]);
        Path file = Path.of(args[3]);
        ExecutorService workers = Executors.newFixedThreadPool(4);
        if (args[0].equals("consume")) {
            ConsumerOptions options = new ConsumerOptions(8, 100, LEASE, true, Duration.ofHours(1), "new");
            queue.consume(options, workers, delivery -> taken(delivery, file));
            while (System.in.read() >= 0) {
                // Nothing is to be read, only its end.
            }
        } else {
            Thread reader = new Thread(NewQueueProcess::awaitEnd);
            reader.setDaemon(true);
            reader.start();
            ImportOptions options = args[5].equals("due") ? ImportOptions.DUE : ImportOptions.EVERYTHING;
            importAgainAndAgain(queue, ImportCodec.of(args[4]), options, file);
        }
        client.close();
        workers.shutdown();
        redisson.shutdown();
    }

    static RedissonClient connect(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    private static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is to be read, only its end.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            ended = true;
        }
    }

    private static void importAgainAndAgain(DelayQueue queue, ImportCodec codec, ImportOptions options, Path file)
            throws Exception {
        OldQueueProcess.write(file, "begun");
        while (!ended) {
            ImportReport report = importFrom(queue, codec, options);
            if (report.moved() > 0 || report.leftInAll() > 0) {
                OldQueueProcess.write(file, report.toString());
            }
            long next = report.nextDueMicros();
            TimeUnit.MICROSECONDS.sleep(
                    next < 0 || next > LONGEST_PAUSE_MICROS ? LONGEST_PAUSE_MICROS : Math.max(1_000, next));
        }
    }

    /** Imports what is there from the queue of the same name. The ids are generated: nothing hides what was moved twice. */
    static ImportReport importFrom(DelayQueue queue, ImportCodec codec, ImportOptions options) throws Exception {
        return queue.importFrom(
                        new ImportSource(queue.name()),
                        payload -> ConvertedPayload.of(
                                ((String) codec.convert(payload).body()).getBytes(StandardCharsets.UTF_8)),
                        options)
                .get(5, TimeUnit.MINUTES);
    }

    private static void taken(Delivery delivery, Path file) {
        try {
            String text = new String(delivery.body(), StandardCharsets.UTF_8);
            OldQueueProcess.write(
                    file, text + " " + delivery.id() + " " + delivery.attempt() + " " + delivery.firstDueMicros());
            TimeUnit.MILLISECONDS.sleep(WORK_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return; // it comes again
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        delivery.acknowledge();
    }
}
