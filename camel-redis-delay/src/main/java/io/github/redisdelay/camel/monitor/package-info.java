// SPDX-License-Identifier: Apache-2.0
/** Figures, meters, spans and log lines, for operators: at the start of a consumer, in JMX, Micrometer, traces and the health check. */
package io.github.redisdelay.camel.monitor;
