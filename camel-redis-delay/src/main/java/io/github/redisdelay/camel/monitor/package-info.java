// SPDX-License-Identifier: Apache-2.0
/** Figures, meters and log lines about queues, for operators: at the start of a consumer, in JMX, Micrometer and the health check. */
package io.github.redisdelay.camel.monitor;
