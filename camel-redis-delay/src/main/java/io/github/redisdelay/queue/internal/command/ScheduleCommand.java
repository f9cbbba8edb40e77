// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.QueueFullException;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.RunTimes;
import io.github.redisdelay.queue.internal.format.ScheduleReply;
import io.github.redisdelay.queue.internal.format.WireWord;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A call of {@code schedule.lua} for one message. */
public final class ScheduleCommand extends Request<ScheduleResult> {

    private static final byte[] NO_CLAIM = {};
    private static final byte[] RECURRING = "at recur".getBytes(StandardCharsets.US_ASCII);
    private static final byte[][] PLAIN_OPTIONS = plainOptions();

    private final ScheduleRequest message;
    private final long limit;

    /**
     * @param id the message's id, or the one that was generated for it
     * @param limit how many messages the partition may hold for this one to be added; 0 for any number
     * @param nowMicros the time by the client's clock
     */
    public ScheduleCommand(QueueAddress queue, ScheduleRequest message, String id, long limit, long nowMicros) {
        this(queue, message, id, limit, id.getBytes(StandardCharsets.UTF_8), body(message, nowMicros));
    }

    private ScheduleCommand(
            QueueAddress queue, ScheduleRequest message, String id, long limit, byte[] idBytes, byte[] body) {
        super(
                queue,
                LuaScript.SCHEDULE,
                id,
                idBytes.length + body.length + 40,
                idBytes,
                options(message, limit),
                Digits.padded(message.schedule() == null ? message.due().micros() : message.declaredMicros()),
                message.supersedes() == null ? NO_CLAIM : message.supersedes().bytes(),
                body);
        this.message = message;
        this.limit = limit;
    }

    /** The body, and before it the group, then what is known of the rule. */
    private static byte[] body(ScheduleRequest message, long nowMicros) {
        byte[] body = message.schedule() == null
                ? message.body()
                : RunTimes.declared(message, nowMicros).before(message.body());
        if (message.group() == null) {
            return body;
        }
        byte[] group = message.group().getBytes(StandardCharsets.UTF_8);
        byte[] both = Arrays.copyOf(group, group.length + body.length);
        System.arraycopy(body, 0, both, group.length, body.length);
        return both;
    }

    @Override
    protected boolean stores() {
        return true;
    }

    private static byte[][] plainOptions() {
        byte[][] all = new byte[2 * DuplicatePolicy.values().length][];
        for (DuplicatePolicy policy : DuplicatePolicy.values()) {
            all[2 * policy.ordinal()] = ("at " + WireWord.text(policy)).getBytes(StandardCharsets.US_ASCII);
            all[2 * policy.ordinal() + 1] = ("after " + WireWord.text(policy)).getBytes(StandardCharsets.US_ASCII);
        }
        return all;
    }

    /** Time and policy as words; behind them what differs from the default. */
    private static byte[] options(ScheduleRequest message, long maximum) {
        byte[] plain = message.schedule() != null
                ? RECURRING
                : PLAIN_OPTIONS[
                        2 * message.onDuplicate().ordinal() + (message.due().relative() ? 1 : 0)];
        if (message.priority() == 0 && maximum == 0 && message.group() == null) {
            return plain;
        }
        String priority = message.priority() == 0 ? "" : " priority=" + message.priority();
        String limit = maximum == 0 ? "" : " limit=" + maximum;
        String group =
                message.group() == null ? "" : " group=" + message.group().getBytes(StandardCharsets.UTF_8).length;
        return (new String(plain, StandardCharsets.US_ASCII) + priority + limit + group)
                .getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    protected ScheduleResult read(long timeMicros, int outcome, long valueMicros) {
        return switch (ScheduleReply.of(outcome)) {
            case SCHEDULED -> new ScheduleResult(id(), ScheduleOutcome.SCHEDULED, timeMicros, valueMicros);
            case REPLACED -> new ScheduleResult(id(), ScheduleOutcome.REPLACED, timeMicros, valueMicros);
            case SUPERSEDED -> new ScheduleResult(id(), ScheduleOutcome.SUPERSEDED, timeMicros, valueMicros);
            case DELAYED -> inUse(MessageState.DELAYED, timeMicros, valueMicros);
            case LEASED -> inUse(MessageState.LEASED, timeMicros, valueMicros);
            case FINISHED -> inUse(MessageState.FINISHED, timeMicros, 0);
            case BEYOND_RANGE -> throw beyondRange(message.due());
            case FULL ->
                throw new QueueFullException(queue().name() + queue().partitionLabel(), id(), valueMicros, limit);
            case STALE -> throw new StaleDeliveryException(queue().name(), id());
        };
    }

    private ScheduleResult inUse(MessageState state, long timeMicros, long dueMicros) {
        if (message.onDuplicate() != DuplicatePolicy.IGNORE) {
            throw new DuplicateMessageException(queue().name(), id(), state);
        }
        return new ScheduleResult(id(), ScheduleOutcome.IGNORED, timeMicros, dueMicros);
    }
}
