// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Runs a check on many random inputs. Each input is made from the seed and its own number, so a single one can be
 * repeated. {@code -Dfuzz.inputs=5000000} says how many there are, {@code -Dfuzz.seed=} gives other inputs;
 * {@link RandomTests} says what happens without them.
 */
public final class Fuzz {

    /** So long no input takes, however slow the machine. */
    private static final long HANGS_MILLIS = 60_000;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Fuzz() {}

    /** A check on one input. */
    public interface Check {
        /**
         * Makes an input and checks what becomes of it.
         *
         * @throws Throwable if that is wrong
         */
        void run(RandomGenerator random) throws Throwable;
    }

    /**
     * Checks inputs.
     *
     * @param what is fuzzed, for the report
     * @param inputs how many a thorough build checks; others check a quarter
     */
    public static void run(String what, int inputs, Check check) {
        long count = RandomTests.amount("fuzz.inputs", inputs / 4, inputs);
        long seed = RandomTests.seed("fuzz.seed");
        long first = Long.getLong("fuzz.first", 0);
        AtomicLong next = new AtomicLong(first);
        AtomicReference<Throwable> fault = new AtomicReference<>();
        Thread worker = new Thread(
                () -> {
                    try {
                        for (long i = first; i < first + count; i++) {
                            next.set(i);
                            check.run(new SplittableRandom(seed * 0x9E3779B97F4A7C15L + i));
                        }
                    } catch (Throwable e) {
                        fault.set(e);
                    }
                },
                "fuzz " + what);
        worker.setDaemon(true);
        long began = System.nanoTime();
        worker.start();
        try {
            long last = -1;
            while (worker.isAlive()) {
                worker.join(HANGS_MILLIS);
                if (worker.isAlive() && last == next.get()) {
                    AssertionError hangs = new AssertionError(repeat(what, last, seed) + " does not end");
                    hangs.setStackTrace(worker.getStackTrace());
                    throw hangs;
                }
                last = next.get();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (fault.get() != null) {
            throw new AssertionError(repeat(what, next.get(), seed) + ": " + fault.get(), fault.get());
        }
        System.out.printf(
                "fuzz %s: %d inputs, seed %d, %d ms%n", what, count, seed, (System.nanoTime() - began) / 1_000_000);
    }

    private static String repeat(String what, long input, long seed) {
        return "fuzz " + what + ": input " + input + " (-Dfuzz.seed=" + seed + " -Dfuzz.first=" + input
                + " -Dfuzz.inputs=1)";
    }

    /**
     * Runs a task that may take no more memory than that, and does it once more if it did: the first time classes are
     * loaded.
     *
     * @param limit in bytes, as this thread allocates them
     * @param what tells the input
     */
    public static void assertAllocates(long limit, Supplier<String> what, Runnable task) {
        long bytes = allocated(task);
        if (bytes > limit) {
            bytes = Math.min(bytes, allocated(task));
        }
        if (bytes > limit) {
            throw new AssertionError(bytes + " bytes allocated, more than " + limit + ", for " + what.get());
        }
    }

    private static long allocated(Runnable task) {
        long thread = Thread.currentThread().getId();
        long before = THREADS.getThreadAllocatedBytes(thread);
        task.run();
        return THREADS.getThreadAllocatedBytes(thread) - before;
    }

    /** Any bytes. */
    public static byte[] bytes(RandomGenerator random, int maximum) {
        byte[] bytes = new byte[random.nextInt(maximum + 1)];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Text of one to three kinds of characters, well-formed or not. */
    public static String text(RandomGenerator random, int maximum) {
        int length = random.nextInt(8) == 0 ? random.nextInt(maximum + 1) : random.nextInt(Math.min(maximum, 12) + 1);
        StringBuilder text = new StringBuilder(length);
        int kinds = random.nextInt();
        while (text.length() < length) {
            switch (kinds >>> 3 * random.nextInt(3) & 7) {
                case 0 -> text.append((char) ('0' + random.nextInt(10)));
                case 1 -> text.append((char) (' ' + random.nextInt(95)));
                case 2 -> text.append((char) random.nextInt(' '));
                case 3 -> text.append((char) random.nextInt(65_536));
                case 4 -> text.appendCodePoint(0x1F600 + random.nextInt(64));
                case 5 -> text.append("PTdhmsSDHM.,:;=+-_@Zz".charAt(random.nextInt(21)));
                case 6 ->
                    text.append("\u212A\u0131\u017F\u0130\u200B\uFEFF\u2028\u0660\uFFFD".charAt(random.nextInt(9)));
                default -> text.append((char) ('a' + random.nextInt(26)));
            }
        }
        return text.toString();
    }

    /** Text that can be written as UTF-8. */
    public static String wellFormed(RandomGenerator random, int maximum) {
        return text(random, maximum).replaceAll("[\\ud800-\\udfff]", "?");
    }

    /** Some bytes with one to four changes. */
    public static byte[] mutated(byte[] bytes, RandomGenerator random) {
        byte[] changed = bytes;
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            changed = change(changed, random);
        }
        return changed;
    }

    private static byte[] change(byte[] bytes, RandomGenerator random) {
        if (bytes.length == 0) {
            return bytes(random, 16);
        }
        int at = random.nextInt(bytes.length);
        int count = Math.min(bytes.length - at, 1 + random.nextInt(8));
        byte[] some = new byte[count];
        return switch (random.nextInt(9)) {
            case 0 -> set(bytes, at, (byte) (bytes[at] ^ 1 << random.nextInt(8)));
            case 1 -> set(bytes, at, (byte) random.nextInt());
            case 2 -> set(bytes, at, (byte) new int[] {0, 1, 0x7F, 0x80, 0x81, 0xFF, '-', 'E', '9'}[random.nextInt(9)]);
            case 3 -> Arrays.copyOf(bytes, at);
            case 4 -> replaced(bytes, at, at + count, new byte[0]);
            case 5 -> {
                random.nextBytes(some);
                yield replaced(bytes, at, at, some);
            }
            case 6 -> {
                Arrays.fill(some, (byte) (random.nextBoolean() ? 0xFF : random.nextInt()));
                yield replaced(bytes, at, at + count, some);
            }
            case 7 -> replaced(bytes, at, at, Arrays.copyOfRange(bytes, at, at + count));
            default -> repeated(bytes, at, at + count, random.nextInt(random.nextInt(50) == 0 ? 8000 : 20));
        };
    }

    private static byte[] set(byte[] bytes, int at, byte value) {
        byte[] changed = bytes.clone();
        changed[at] = value;
        return changed;
    }

    private static byte[] replaced(byte[] bytes, int from, int to, byte[] with) {
        byte[] changed = new byte[bytes.length - (to - from) + with.length];
        System.arraycopy(bytes, 0, changed, 0, from);
        System.arraycopy(with, 0, changed, from, with.length);
        System.arraycopy(bytes, to, changed, from + with.length, bytes.length - to);
        return changed;
    }

    private static byte[] repeated(byte[] bytes, int from, int to, int times) {
        byte[] part = new byte[(to - from) * times];
        for (int i = 0; i < part.length; i++) {
            part[i] = bytes[from + i % (to - from)];
        }
        return replaced(bytes, to, to, part);
    }

    /** Bytes for a report. */
    public static String hex(byte[] bytes) {
        return bytes.length + " bytes " + HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, 400));
    }
}
