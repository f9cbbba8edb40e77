// SPDX-License-Identifier: Apache-2.0
/**
 * Imports from Redisson's {@code RDelayedQueue} by Camel: the built-in codecs, and the contract of a converter of your
 * own; the operation of producers and the bridge beside consumers. No class makes an object of a class that a payload
 * names.
 */
package io.github.redisdelay.imports;
