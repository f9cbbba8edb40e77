// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.example.PaymentAnswer.Result;

/**
 * Decides what becomes of a payment, from where its order's closing was when it was cancelled.
 *
 * <p>Whether a payment came in time is Redis's word alone: a closing that was still pending can only be cancelled once,
 * and then it is not delivered any more. The book is told before and after, so that a payment that a crash interrupts
 * in between is finished at the next start.
 */
public final class PaymentDesk {

    private final OrderBook book;

    PaymentDesk(OrderBook book) {
        this.book = book;
    }

    boolean knows(String id) {
        return book.knows(id);
    }

    /** An order that is scheduled, and was not written down. */
    public void place(Order order) {
        book.place(order);
    }

    /** To be called before the closing is cancelled. */
    public void begin(String id) {
        book.beginPayment(id);
    }

    /**
     * To be called when the closing was cancelled.
     *
     * @param previousState where the closing was: delayed, leased, dead (it failed for good, and the book says what
     *     became of the order) or none
     */
    public PaymentAnswer decide(String id, String previousState) {
        return switch (previousState) {
            case "delayed" -> paid(id);
            case "leased" ->
                new PaymentAnswer(id, Result.CLOSING_UNDER_WAY, "its closing is under way, the payment is returned");
            case "dead", "none" -> nothingToCancel(id);
            default -> throw new IllegalArgumentException(previousState);
        };
    }

    private PaymentAnswer nothingToCancel(String id) {
        OrderBook.State state = book.state(id).orElse(null);
        if (state == null) {
            return new PaymentAnswer(id, Result.UNKNOWN, "no such order");
        }
        return switch (state) {
            // The closing was cancelled by an earlier try of this payment, which did not get this far.
            case WAITING, PAYING -> paid(id);
            case PAID -> new PaymentAnswer(id, Result.PAID_BEFORE, "was paid before");
            case CLOSED -> new PaymentAnswer(id, Result.CLOSED, "is closed already, the payment is returned");
        };
    }

    private static PaymentAnswer paid(String id) {
        return new PaymentAnswer(id, Result.PAID, "paid in time, its closing is cancelled");
    }

    /** The notification for the order's partner; null if there is none, or if another route sends it. */
    Notification notification(PaymentAnswer answer) {
        String event =
                switch (answer.result()) {
                    case PAID -> Notification.PAID;
                    case CLOSING_UNDER_WAY -> Notification.CLOSED;
                    default -> null;
                };
        return event == null
                ? null
                : book.notifyUrl(answer.order())
                        .map(url -> new Notification(answer.order(), event, url))
                        .orElse(null);
    }

    /** To be called when all that follows from the answer is under way: writes down what became of the order. */
    public void finish(PaymentAnswer answer) {
        switch (answer.result()) {
            case PAID -> book.pay(answer.order());
            // Too late by a moment. The cancel took the message away from Redis, so nobody delivers it again if this
            // process dies while it closes the order: the book must have it here.
            case CLOSING_UNDER_WAY -> book.close(answer.order());
            default -> {
                // Nothing new.
            }
        }
    }
}
