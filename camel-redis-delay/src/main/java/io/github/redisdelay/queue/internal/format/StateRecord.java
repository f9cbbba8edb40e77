// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.RedeliveryReason;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A state record as {@code record.lua} writes it, but for its claim id.
 *
 * @param rule of a recurring schedule and of the dead letter of a run; else null
 * @param lastRunMicros the nominal time of the run that ended last; of a dead letter and of a redriven run its own; else 0
 * @param newDueMicros the first time of a rule that was stored during the run; else 0
 */
public record StateRecord(
        int lostLeases,
        RedeliveryReason redeliveryReason,
        int priority,
        int attempts,
        long dueMicros,
        long firstDueMicros,
        byte[] lastFailure,
        String rule,
        int runsGivenUp,
        long lastRunMicros,
        long newDueMicros,
        String group) {

    private static final int LENGTH = 40;
    private static final byte[] NO_FAILURE = {};

    /** The number that is added to the priority of a dead letter. */
    private static final int DEAD = 16;

    /** The number that is added to the priority of a recurring schedule. */
    private static final int RUN = 32;

    /** The number that is added to the priority of a message with a group. */
    private static final int GROUP = 64;

    private static final Pattern LINE = Pattern.compile("(\\d{1,16}) (\\d{1,9})@\\d+@(\\d{1,16}) (.*)");

    public static StateRecord parse(byte[] bytes) {
        return parse(bytes, 0, bytes.length, 0);
    }

    /**
     * The record in a part of some bytes, from a position and before another one.
     *
     * @param dueOtherwise the due time if the record ends behind the claim id, as that of a first delivery may; and the first one
     *     if that is 0
     */
    static StateRecord parse(byte[] bytes, int from, int to, long dueOtherwise) {
        ByteBuffer record = ByteBuffer.wrap(bytes, from, to - from).order(ByteOrder.LITTLE_ENDIAN);
        record.get();
        int lost = record.get() & 0xff;
        int reason = record.get();
        int level = record.get() & 0xff;
        int attempts = record.getInt();
        record.position(record.position() + ClaimId.LENGTH);
        boolean brief = to - from < LENGTH;
        long due = brief ? dueOtherwise : (long) record.getDouble();
        long stored = brief ? 0 : (long) record.getDouble();
        long firstDue = stored == 0 ? dueOtherwise : stored;
        String rule = null;
        int givenUp = 0;
        long lastRun = 0;
        long newDue = 0;
        int failure = record.position();
        String group = null;
        if (level >= GROUP) {
            int end = lineEnd(bytes, failure, to);
            if (end < to && end > failure) {
                group = new String(bytes, failure, end - failure, StandardCharsets.UTF_8);
                failure = end + 1;
            }
        }
        if (level % GROUP >= RUN) {
            int end = lineEnd(bytes, failure, to);
            Matcher line = LINE.matcher(new String(bytes, failure, end - failure, StandardCharsets.UTF_8));
            if (end < to && line.matches()) {
                failure = end + 1;
                newDue = Long.parseLong(line.group(1));
                givenUp = Integer.parseInt(line.group(2));
                lastRun = Long.parseLong(line.group(3));
                rule = line.group(4).isEmpty() ? null : line.group(4);
            }
        }
        return new StateRecord(
                lost,
                RedeliveryReason.of(reason),
                level % DEAD,
                attempts,
                due,
                firstDue,
                failure < to ? Arrays.copyOfRange(bytes, failure, to) : NO_FAILURE,
                rule,
                givenUp,
                lastRun,
                newDue,
                group);
    }

    private static int lineEnd(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && bytes[end] != '\n') {
            end++;
        }
        return end;
    }
}
