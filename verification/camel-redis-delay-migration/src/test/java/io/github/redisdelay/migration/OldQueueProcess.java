// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * The process that offers to a delayed queue of Redisson's or takes from it. It uses nothing but the JDK and one Redisson, whichever that
 * is, and transfers what is due, as each process does that called {@code getDelayedQueue}. It ends when its standard input ends.
 *
 * <p>Arguments: {@code produce}, {@code consume} or {@code transfer}; the address of Redis; the queue; {@code default} or {@code string},
 * the codec; the file that gets a line for each text that was offered or taken. To produce: the start of the texts, how many, how many in a
 * second (0 for as many as it can), the shortest and the longest delay in milliseconds.
 */
public final class OldQueueProcess {

    private static volatile boolean ended; // set by the main thread, read by the one that works

    private OldQueueProcess() {}

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(args[1])
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8);
        RedissonClient redisson = Redisson.create(config);
        RBlockingQueue<String> queue = args[3].equals("string")
                ? redisson.getBlockingQueue(args[2], StringCodec.INSTANCE)
                : redisson.getBlockingQueue(args[2]);
        RDelayedQueue<String> delayed = redisson.getDelayedQueue(queue);
        Path file = Path.of(args[4]);
        Thread work = new Thread(() -> {
            try {
                if (args[0].equals("produce")) {
                    produce(delayed, file, args);
                } else if (args[0].equals("consume")) {
                    consume(queue, file);
                }
            } catch (Exception e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(3);
            }
        });
        work.start();
        while (System.in.read() >= 0) {
            // Nothing is to be read, only its end.
        }
        ended = true;
        work.join();
        delayed.destroy();
        redisson.shutdown();
    }

    private static void produce(RDelayedQueue<String> delayed, Path file, String[] args) throws Exception {
        int count = Integer.parseInt(args[6]);
        int perSecond = Integer.parseInt(args[7]);
        int shortest = Integer.parseInt(args[8]);
        int longest = Integer.parseInt(args[9]);
        Random random = new Random(args[5].hashCode());
        long begin = System.nanoTime();
        for (int i = 0; i < count && !ended; i++) {
            long wait = perSecond == 0 ? 0 : begin + i * 1_000_000_000L / perSecond - System.nanoTime();
            TimeUnit.NANOSECONDS.sleep(wait);
            String text = args[5] + i;
            delayed.offer(text, shortest + random.nextInt(longest - shortest + 1), TimeUnit.MILLISECONDS);
            write(file, text);
        }
        write(file, "end");
    }

    private static void consume(RBlockingQueue<String> queue, Path file) throws Exception {
        while (!ended) {
            String text = queue.poll(1, TimeUnit.SECONDS);
            if (text != null) {
                write(file, text);
            }
        }
    }

    static synchronized void write(Path file, String line) throws IOException {
        Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
