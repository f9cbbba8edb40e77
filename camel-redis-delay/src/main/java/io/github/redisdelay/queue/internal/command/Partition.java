// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.DeliverySettler;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One partition of a queue; most queues have no more than one. It makes requests of the calls about single messages, and hands
 * them to the router. It holds no state.
 */
public final class Partition implements DeliverySettler {

    private final QueueAddress address;
    private final RequestRouter router;
    private final UnbatchedCalls calls;

    public Partition(QueueAddress address, RequestRouter router, UnbatchedCalls calls) {
        this.address = address;
        this.router = router;
        this.calls = calls;
    }

    public QueueAddress address() {
        return address;
    }

    public RequestRouter router() {
        return router;
    }

    public UnbatchedCalls calls() {
        return calls;
    }

    @Override
    public String name() {
        return address.name();
    }

    @Override
    public boolean isDeadLetters() {
        return address.isDeadLetters();
    }

    @Override
    public boolean isPartOf(DelayQueue queue) {
        return queue instanceof Partitioned whole
                && whole.partitions().stream()
                        .anyMatch(other -> address.equals(other.address) && router.isConnectedAs(other.router));
    }

    /** The dead letters of the messages in this partition. */
    public Partition deadLetters() {
        return new Partition(address.deadLetters(), router, calls);
    }

    /** The bytes of an id; those of dead letters are longer. */
    private byte[] idBytes(String id) {
        return ScheduleRequest.checkId(
                id, isDeadLetters() ? ScheduleRequest.MAX_DEAD_LETTER_ID_BYTES : ScheduleRequest.MAX_ID_BYTES);
    }

    /**
     * @param id the message's id, or the one that was generated for it
     * @param limit how many messages the partition may hold for this one to be added; 0 for any number
     * @param nowMicros the time by the client's clock
     */
    public Submission<ScheduleResult> schedule(ScheduleRequest message, String id, long limit, long nowMicros) {
        return router.submit(new ScheduleCommand(address, message, id, limit, nowMicros));
    }

    /**
     * Changes a message.
     *
     * @param micros the time or the delay that goes with the action; else 0
     */
    public Submission<ChangeResult> change(String id, ChangeAction action, long micros) {
        return router.submit(new ChangeCommand(address, id, idBytes(id), action, micros));
    }

    /**
     * Removes a delayed message; a leased one is left alone.
     *
     * @return true if it was delayed
     */
    public CompletableFuture<Boolean> cancelDelayed(String id) {
        return change(id, ChangeAction.CANCEL_DELAYED, 0)
                .result()
                .thenApply(result -> result.previousState() == MessageState.DELAYED);
    }

    /** @param held the claim id of the caller's delivery of the dead letter; null if it has none */
    public Submission<RedriveOutcome> redrive(String deadLetterId, ClaimId held) {
        byte[] idBytes = ScheduleRequest.checkId(deadLetterId, ScheduleRequest.MAX_DEAD_LETTER_ID_BYTES);
        return router.submit(new RedriveCommand(address, deadLetterId, idBytes, held));
    }

    public CompletableFuture<Optional<StoredMessage>> get(String id) {
        return calls.untilAnswered(address, LuaScript.GET, (Object) idBytes(id))
                .thenApply(reply -> MessageRows.get((List<?>) reply));
    }

    @Override
    public CompletableFuture<Optional<Long>> scheduledMicros(String id) {
        return get(id).thenApply(found -> found.map(StoredMessage::scheduledMicros));
    }

    @Override
    public Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement settlement) {
        return router.submit(SettleCommand.of(address, delivery, settlement));
    }

    @Override
    public Submission<SettleResult> extend(ClaimedDelivery delivery, long micros) {
        return router.submit(SettleCommand.extension(address, delivery, micros));
    }
}
