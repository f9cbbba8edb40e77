// SPDX-License-Identifier: Apache-2.0
/**
 * The conversion of messages of Redisson's {@code RDelayedQueue}: the built-in codecs, and the contract of a converter of your own; and the
 * progress of an import that is under way. Without an import no codec is loaded. No class makes an object of a class that a payload names.
 */
package io.github.redisdelay.camel.migration;
