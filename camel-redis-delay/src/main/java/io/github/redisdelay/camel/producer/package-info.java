// SPDX-License-Identifier: Apache-2.0
/**
 * The operations of a producer.
 *
 * <p>{@code RedisDelayProducer} hands an exchange to one of three classes: {@link
 * io.github.redisdelay.camel.producer.ScheduleOperation} stores messages, {@link
 * io.github.redisdelay.camel.producer.ManageOperations} changes stored ones, and {@link
 * io.github.redisdelay.camel.producer.QueryOperations} reads. Each returns a {@link
 * io.github.redisdelay.camel.producer.PendingRequest}: {@link io.github.redisdelay.camel.producer.PendingChanges} must
 * not be made twice, and any other may. If the outcome is not known
 * when the step fails, {@code RedisDelayProducer} keeps the request, and Camel's
 * redelivery of the step goes on with it.
 */
package io.github.redisdelay.camel.producer;
