// SPDX-License-Identifier: Apache-2.0
/** Figures, spans and log lines, for operators: at the start of a consumer, in JMX, traces and the health check; and the place of meters. */
package io.github.redisdelay.camel.monitor;
