// SPDX-License-Identifier: Apache-2.0
/**
 * The way of a message from its claim to its acknowledgement.
 *
 * <p>A consumer's {@code ConsumerDeliveries} gets a delivery from the queue layer. The {@code DeliveryPolicy} decides whether its
 * route may begin. {@code ExchangeFiller} makes an exchange of the message, or of the messages of a
 * batch, and {@code RoutedExchange} hands it to the route. When the exchange has completed, {@code RouteOutcome} says how the route ended, the
 * policy makes a {@code Decision} of it, {@code DeliveryCompletion} carries the decision out, and {@code DeliveryReport} counts and
 * logs it.
 *
 * <p>One message is several objects on this way, each with what its stop needs:
 *
 * <table>
 * <caption>The objects for one message</caption>
 * <tr><th>Object</th><th>What it is</th><th>Made by</th><th>Lives until</th></tr>
 * <tr><td>{@code ClaimedMessage}</td><td>the values that a claim has answered</td><td>the claim's reply</td>
 *     <td>its delivery is gone</td></tr>
 * <tr><td>{@code ClaimedDelivery}, a {@code Delivery}</td><td>the lease: its claim id, and the calls that end it</td>
 *     <td>the consumer's loop</td><td>Redis has answered to its end</td></tr>
 * <tr><td>{@code DeliveryCompletion}</td><td>the delivery with its message as it was read: ends the delivery once, as the policy
 *     decides</td><td>{@code ConsumerDeliveries}, or the polling consumer</td><td>the same</td></tr>
 * <tr><td>{@code ExchangeCompletion}</td><td>the callback of the exchange: ends the deliveries of the exchange, one or those of a
 *     batch</td><td>with the exchange</td><td>the exchange has completed</td></tr>
 * <tr><td>{@code DeliveriesOfExchange}</td><td>the property of the exchange: the deliveries that it holds, for a step of the route
 *     that schedules or cancels its own message</td><td>{@code ExchangeFiller}</td><td>the exchange is gone</td></tr>
 * </table>
 */
package io.github.redisdelay.camel.delivery;
