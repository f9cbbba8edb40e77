// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.option.OwnHeaders;
import org.apache.camel.Exchange;
import org.apache.camel.util.URISupport;

/**
 * A step that failed before the outcome of its request was known. It is kept in an exchange property, so that a
 * redelivery of the step goes on with the request instead of sending a new message. Copies of the exchange have the
 * property as well and are told apart by the exchange's id.
 */
public record ResumableStep(String exchangeId, String endpointUri, int redeliveries, PendingRequest request) {

    static final String PROPERTY = OwnHeaders.PENDING_REQUEST;

    /** Keeps a request for a redelivery of the step. */
    public static void keep(Exchange exchange, String endpointUri, PendingRequest request) {
        exchange.setProperty(
                PROPERTY, new ResumableStep(exchange.getExchangeId(), endpointUri, redeliveries(exchange), request));
    }

    /**
     * The request that this redelivery of the step goes on with, or null. Another step that sends to the same endpoint
     * is no redelivery, and makes a new request.
     */
    public static PendingRequest take(Exchange exchange, String endpointUri) {
        if (!(exchange.getProperty(PROPERTY) instanceof ResumableStep step)) {
            return null;
        }
        exchange.removeProperty(PROPERTY);
        // The header CamelRedelivered stays set after an earlier step was redelivered, so it is not enough.
        boolean redelivery = redeliveries(exchange) > step.redeliveries;
        boolean same = step.exchangeId.equals(exchange.getExchangeId()) && step.endpointUri.equals(endpointUri);
        return redelivery && same ? step.request : null;
    }

    private static int redeliveries(Exchange exchange) {
        return exchange.getMessage().getHeader(Exchange.REDELIVERY_COUNTER, 0, Integer.class);
    }

    @Override
    public String toString() {
        return "request to " + URISupport.sanitizeUri(endpointUri);
    }
}
