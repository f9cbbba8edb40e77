// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * The process that offers to a delayed queue of Redisson's, or takes from it, or both. It uses nothing but the JDK and
 * one Redisson, whichever that is, and transfers what is due, as each process does that called {@code getDelayedQueue}.
 * It stops taking when it reads a line, and ends when its standard input ends.
 *
 * <p>Arguments: what it does; the address of Redis, or with commas between them those of a cluster's nodes; the queue;
 * {@code default}, {@code string} or {@code json}, the codec; the file that gets a line for each text that is offered
 * or was taken, see {@link Line}. To offer: the start of the texts, how many, how many in a second (0 for as many as it
 * can), the shortest and the longest delay in milliseconds.
 */
public final class OldQueueProcess {

    /** The task of a process. */
    enum Role {
        /** Offers. */
        PRODUCE,
        /** Takes. */
        CONSUME,
        /** Offers and takes. */
        WORK,
        /** Only transfers. */
        TRANSFER,
        /** Takes, and does not transfer. */
        TAKE;

        boolean offers() {
            return this == PRODUCE || this == WORK;
        }

        boolean takes() {
            return this == CONSUME || this == WORK || this == TAKE;
        }
    }

    /** The first word of a line of its file; the time in microseconds and a text follow. */
    enum Line {
        /** It is about to offer; in the end when the text is due, in milliseconds. */
        OFFERING,
        /** It has offered. */
        OFFERED,
        /** It has taken. */
        TAKEN
    }

    private static volatile boolean taking = true; // set by the main thread, read by the one that takes
    private static volatile boolean ended; // set by the main thread, read by those that work

    private OldQueueProcess() {}

    public static void main(String[] args) throws Exception {
        Role role = Role.valueOf(args[0]);
        RedissonClient redisson = Redisson.create(config(args[1].split(",")));
        Codec codec = codec(args[3]);
        RBlockingQueue<String> queue =
                codec == null ? redisson.getBlockingQueue(args[2]) : redisson.getBlockingQueue(args[2], codec);
        RDelayedQueue<String> delayed = role == Role.TAKE ? null : redisson.getDelayedQueue(queue);
        Path file = Path.of(args[4]);
        Thread producer = thread(role.offers(), () -> produce(delayed, file, args));
        Thread consumer = thread(role.takes(), () -> consume(queue, file));
        while (System.in.read() >= 0) {
            taking = false;
        }
        ended = true;
        producer.join();
        consumer.join();
        if (delayed != null) {
            delayed.destroy();
        }
        redisson.shutdown();
    }

    /**
     * How long Redisson waits for an answer. After that it sends an offer again, which makes a second message. A
     * message that it has taken is lost if the answer comes later.
     */
    private static final int PATIENCE_MILLIS = 30_000;

    private static Config config(String[] addresses) {
        Config config = new Config();
        if (addresses.length > 1) {
            config.useClusterServers().addNodeAddress(addresses).setTimeout(PATIENCE_MILLIS);
        } else {
            config.useSingleServer()
                    .setAddress(addresses[0])
                    .setTimeout(PATIENCE_MILLIS)
                    .setConnectionMinimumIdleSize(1)
                    .setConnectionPoolSize(8);
        }
        return config;
    }

    /** A codec; null for that which this Redisson has by default. */
    private static Codec codec(String name) throws ReflectiveOperationException {
        return switch (name) {
            case "default" -> null;
            case "string" -> StringCodec.INSTANCE;
            // By its name: it cannot be loaded where there is no Jackson.
            case "json" ->
                (Codec) Class.forName("org.redisson.codec.JsonJacksonCodec")
                        .getConstructor()
                        .newInstance();
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Something to do that may fail. */
    private interface Work {
        void run() throws Exception;
    }

    private static Thread thread(boolean wanted, Work work) {
        Thread thread = new Thread(() -> {
            try {
                if (wanted) {
                    work.run();
                }
            } catch (Exception e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(3);
            }
        });
        thread.start();
        return thread;
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
            int delay = shortest + random.nextInt(longest - shortest + 1);
            write(file, Line.OFFERING, text + " " + (System.currentTimeMillis() + delay));
            delayed.offer(text, delay, TimeUnit.MILLISECONDS);
            write(file, Line.OFFERED, text);
        }
    }

    private static void consume(RBlockingQueue<String> queue, Path file) throws Exception {
        while (taking && !ended) {
            String text = queue.poll(1, TimeUnit.SECONDS);
            if (text != null) {
                write(file, Line.TAKEN, text);
            }
        }
    }

    private static synchronized void write(Path file, Line line, String what) throws IOException {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        Files.writeString(
                file, line + " " + micros + " " + what + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
