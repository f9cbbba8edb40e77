// SPDX-License-Identifier: Apache-2.0
/**
 * Values of options and headers: reading them, and errors that name the option or header, the value found and what
 * would be right. Every other package may use this one.
 *
 * <p>A new header gets a constant in {@link io.github.redisdelay.camel.RedisDelayConstants}. If it asks for something,
 * {@link io.github.redisdelay.camel.option.OwnHeaders} lists it. The package that acts on it reads it by {@link
 * io.github.redisdelay.camel.option.HeaderValues}: the headers of a schedule are read by {@code ScheduleHeaders}, and
 * those of a route that has received a message by {@code RouteOutcome}.
 */
package io.github.redisdelay.camel.option;
