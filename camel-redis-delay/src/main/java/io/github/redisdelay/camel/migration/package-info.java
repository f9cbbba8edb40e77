// SPDX-License-Identifier: Apache-2.0
/**
 * What messages of Redisson's {@code RDelayedQueue} become here: the built-in codecs, and the contract of a converter of your own. No
 * class of this package is loaded where nothing is imported, and none of them makes an object of a class that a payload names.
 */
package io.github.redisdelay.camel.migration;
