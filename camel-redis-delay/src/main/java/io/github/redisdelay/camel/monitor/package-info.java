// SPDX-License-Identifier: Apache-2.0
/** Figures and log lines about queues, for operators: at the start of a consumer, in JMX and in the health check. */
package io.github.redisdelay.camel.monitor;
