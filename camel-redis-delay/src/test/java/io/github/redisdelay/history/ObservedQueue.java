// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DeliveryHandler;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Stands between the component and a queue, and writes down what passes: schedules, cancels, deliveries, and how those are
 * finished, with Redis's answers. All else passes unseen, so that it need not know every method of a queue.
 */
public final class ObservedQueue implements InvocationHandler {

    /** Where to write it down. */
    public interface Recorder {

        /** The history for this message. */
        History of(String id);

        /** A delivery is about to be handed over. */
        void delivered(Delivery delivery, boolean deadLetter);
    }

    private final DelayQueue queue;
    private final boolean deadLetters;
    private final Recorder recorder;

    private ObservedQueue(DelayQueue queue, boolean deadLetters, Recorder recorder) {
        this.queue = queue;
        this.deadLetters = deadLetters;
        this.recorder = recorder;
    }

    /** A queue that does what this one does. */
    public static DelayQueue of(DelayQueue queue, Recorder recorder) {
        return of(queue, false, recorder);
    }

    private static DelayQueue of(DelayQueue queue, boolean deadLetters, Recorder recorder) {
        return proxy(DelayQueue.class, new ObservedQueue(queue, deadLetters, recorder));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(ObservedQueue.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "schedule":
                return schedule((ScheduleRequest) arguments[0]);
            case "cancel":
                return cancel((String) arguments[0]);
            case "reschedule", "promote":
                History history = recorder.of((String) arguments[0]);
                String move = history.moving((String) arguments[0]);
                Submission<?> sent = (Submission<?>) call(queue, method, arguments);
                sent.outcome().thenAccept(result -> history.moved(move, (ChangeResult) result));
                return sent;
            case "deadLetters":
                return of(queue.deadLetters(), true, recorder);
            case "consume":
                Object[] observed = arguments.clone();
                observed[2] = observe((DeliveryHandler) arguments[2]);
                return call(queue, method, observed);
            default:
                return call(queue, method, arguments);
        }
    }

    private Submission<ScheduleResult> schedule(ScheduleRequest request) {
        String id = request.id();
        History history = recorder.of(id);
        if (request.schedule() != null) {
            String call = history.declaring(id, request.schedule());
            Submission<ScheduleResult> sent = queue.schedule(request);
            sent.outcome().thenAccept(result -> history.declared(call, result));
            return sent;
        }
        history.scheduling(id, delayMicros(request.due(), history.now()), timeToLive(request), request.group());
        Submission<ScheduleResult> sent = queue.schedule(request);
        sent.result().whenComplete((result, error) -> {
            if (error == null) {
                recorder.of(id).scheduled(id, result);
            } else if (error instanceof RequestTimeoutException timeout && !timeout.isPossiblyStored()) {
                recorder.of(id).refused(id, error.getMessage());
            } else {
                recorder.of(id).unknown(id, String.valueOf(error.getMessage()));
                sent.outcome().thenAccept(late -> recorder.of(id).scheduled(id, late));
            }
        });
        return sent;
    }

    private static long delayMicros(DueTime due, long now) {
        return due.relative() ? due.micros() : Math.max(0, due.micros() - now);
    }

    private static Duration timeToLive(ScheduleRequest request) {
        try {
            return Envelope.decode(request.body()).settings().timeToLive();
        } catch (EnvelopeFormatException e) {
            throw new AssertionError(e);
        }
    }

    private Submission<ChangeResult> cancel(String id) {
        recorder.of(id).cancelling(id);
        Submission<ChangeResult> sent = queue.cancel(id);
        sent.outcome().whenComplete((result, error) -> {
            if (error == null) {
                recorder.of(id).cancelled(id, result.previousState());
            } else {
                recorder.of(id).cancelFailed(id, error);
            }
        });
        return sent;
    }

    private DeliveryHandler observe(DeliveryHandler handler) {
        return proxy(DeliveryHandler.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("handle")) {
                return call(handler, method, arguments);
            }
            Object observed = arguments[0] instanceof List<?> batch
                    ? batch.stream().map(each -> delivered((Delivery) each)).toList()
                    : delivered((Delivery) arguments[0]);
            return call(handler, method, new Object[] {observed});
        });
    }

    private Delivery delivered(Delivery delivery) {
        recorder.of(delivery.id()).delivered(delivery, deadLetters);
        recorder.delivered(delivery, deadLetters);
        return observe(delivery);
    }

    private Delivery observe(Delivery delivery) {
        return proxy(Delivery.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "settle" -> settle(delivery, (Settlement) arguments[0]);
            case "isFrom" -> delivery.isFrom(plain((DelayQueue) arguments[0]));
            default -> call(delivery, method, arguments);
        });
    }

    private static DelayQueue plain(DelayQueue queue) {
        return Proxy.isProxyClass(queue.getClass()) && Proxy.getInvocationHandler(queue) instanceof ObservedQueue other
                ? other.queue
                : queue;
    }

    private Object settle(Delivery delivery, Settlement how) {
        Finish finish = Finish.valueOf(how.word().toUpperCase(Locale.ROOT).replace('-', '_'));
        Duration again = how instanceof Settlement.Retry retry ? retry.delay() : Duration.ZERO;
        recorder.of(delivery.id()).settling(delivery, finish, again.toNanos() / 1000);
        Submission<SettleResult> sent = delivery.settle(how);
        sent.outcome().whenComplete((settlement, error) -> {
            if (error == null) {
                recorder.of(delivery.id()).settled(delivery, settlement);
            } else {
                recorder.of(delivery.id()).failed(delivery, error);
            }
        });
        return sent;
    }
}
