// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.util.URISupport;

/**
 * What a producer's step has sent to Redis. It stays with the exchange as long as its outcome is not known, so that a
 * redelivery of the step waits for that outcome instead of sending a new message.
 */
interface SentRequest {

    /**
     * Completes when everything is answered or the request timeout is over. With which value or error says nothing: {@link
     * #complete} does.
     */
    CompletableFuture<?> answered();

    /**
     * For a redelivery of the step: sends again what certainly had no effect, and waits for what may have had one.
     *
     * @return as {@link #answered()}
     */
    CompletableFuture<?> again(Duration timeout);

    /**
     * Puts the results into the message.
     *
     * @throws Exception why the request failed as a whole or in part, or that its outcome is not known
     */
    void complete(Message message) throws Exception;

    /** Whether a redelivery of the step has to go on with this request. */
    boolean isToBeContinued();

    /**
     * The request that an exchange waits for, kept in an exchange property. Copies of the exchange have the property as well
     * and are told apart by the exchange's id.
     */
    record Unanswered(String exchangeId, String endpointUri, int redeliveries, SentRequest request) {

        static final String PROPERTY = "CamelRedisDelayUnansweredRequest";

        static void keep(Exchange exchange, String endpointUri, SentRequest request) {
            exchange.setProperty(
                    PROPERTY, new Unanswered(exchange.getExchangeId(), endpointUri, redeliveries(exchange), request));
        }

        /**
         * The request that this redelivery of the step goes on with, or null. Another step that sends to the same endpoint
         * is no redelivery, and makes a new request.
         */
        static SentRequest take(Exchange exchange, String endpointUri) {
            if (!(exchange.getProperty(PROPERTY) instanceof Unanswered unanswered)) {
                return null;
            }
            exchange.removeProperty(PROPERTY);
            // CamelRedelivered alone stays set after an earlier step was redelivered.
            boolean redelivery = redeliveries(exchange) > unanswered.redeliveries;
            boolean same = unanswered.exchangeId.equals(exchange.getExchangeId())
                    && unanswered.endpointUri.equals(endpointUri);
            return redelivery && same ? unanswered.request : null;
        }

        private static int redeliveries(Exchange exchange) {
            return exchange.getMessage().getHeader(Exchange.REDELIVERY_COUNTER, 0, Integer.class);
        }

        @Override
        public String toString() {
            return "request to " + URISupport.sanitizeUri(endpointUri);
        }
    }
}
