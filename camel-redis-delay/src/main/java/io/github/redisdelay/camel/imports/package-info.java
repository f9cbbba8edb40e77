// SPDX-License-Identifier: Apache-2.0
/**
 * The place of imports from other delayed queues, which {@code camel-redis-delay-import} fills: an operation of producers, and a bridge
 * beside consumers. Without that module nothing is here but an error that names it.
 */
package io.github.redisdelay.camel.imports;
