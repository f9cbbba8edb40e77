// SPDX-License-Identifier: Apache-2.0
/**
 * The Camel component: component, endpoint, producer, consumers, and their options and headers. Camel loads these classes by
 * their names and users name them, so they are in one package; the work is done in those below it.
 *
 * <p>An option is a field of {@link io.github.redisdelay.camel.RedisDelayConfiguration}. {@link
 * io.github.redisdelay.camel.OptionReader} checks it and makes it a part of the settings of a producer, a consumer or a client, and
 * {@code EndpointOptions} finds it on the wrong side. A header is a constant of {@link
 * io.github.redisdelay.camel.RedisDelayConstants}; {@link io.github.redisdelay.camel.option} says how one is added. An operation is a
 * constant of {@link io.github.redisdelay.camel.RedisDelayOperation}; {@link io.github.redisdelay.camel.producer} carries it out.
 */
package io.github.redisdelay.camel;
