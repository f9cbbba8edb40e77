// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.DueTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The counts of an import so far. Used by one thread at a time. */
final class ImportCounts {

    private static final int SAMPLES = 3;
    private static final int SAMPLE_BYTES = 24;
    /** Messages of one millisecond are up to so many microseconds apart. */
    static final int MICROS_BEHIND = 999;

    private long pending;
    private long ready;
    private long overdue;
    private long oldFormat;
    private long newFormat;
    private long moved;
    private long gone;
    private long renamed;
    private final Map<ImportReport.Reason, List<String>> samples = new EnumMap<>(ImportReport.Reason.class);
    private final Map<ImportReport.Reason, Long> left = new EnumMap<>(ImportReport.Reason.class);

    /** Counts a message that was looked at. */
    void found(LookReply.Entry entry, long nowMicros) {
        if (entry.isReady()) {
            ready++;
            return;
        }
        pending++;
        if (entry.millis() * 1000 <= nowMicros) {
            overdue++;
        }
    }

    void format(boolean isNew) {
        if (isNew) {
            newFormat++;
        } else {
            oldFormat++;
        }
    }

    static boolean isInRange(double millis) {
        return millis >= 0 && millis % 1 == 0 && millis * 1000 <= DueTime.MAX_MICROS - MICROS_BEHIND;
    }

    void left(ImportReport.Reason reason, LookReply.Entry entry, String why) {
        left.merge(reason, 1L, Long::sum);
        List<String> some = samples.computeIfAbsent(reason, any -> new ArrayList<>());
        if (some.size() < SAMPLES) {
            some.add(sample(entry) + ": " + why);
        }
    }

    /** A message in words: when it is due, and its first bytes. */
    private static String sample(LookReply.Entry entry) {
        byte[] bytes = entry.bytes();
        String due = entry.isReady()
                ? "ready"
                : isInRange(entry.millis())
                        ? "due " + Instant.ofEpochMilli((long) entry.millis())
                        : "due at " + entry.millis() + " ms";
        return due + ", " + bytes.length + " bytes "
                + HexFormat.of().formatHex(Arrays.copyOf(bytes, Math.min(bytes.length, SAMPLE_BYTES)))
                + (bytes.length > SAMPLE_BYTES ? "…" : "");
    }

    void moved(boolean underAnotherId) {
        moved++;
        if (underAnotherId) {
            renamed++;
        }
    }

    void gone() {
        gone++;
    }

    long countOfMoved() {
        return moved;
    }

    long countOfGone() {
        return gone;
    }

    ImportReport report(long remaining, long nextDueMicros) {
        Map<ImportReport.Reason, ImportReport.Left> all = new EnumMap<>(ImportReport.Reason.class);
        left.forEach((reason, count) -> all.put(reason, new ImportReport.Left(count, samples.get(reason))));
        return new ImportReport(
                new ImportReport.Found(pending, ready, overdue, oldFormat, newFormat),
                moved,
                gone,
                renamed,
                all,
                remaining,
                nextDueMicros);
    }
}
