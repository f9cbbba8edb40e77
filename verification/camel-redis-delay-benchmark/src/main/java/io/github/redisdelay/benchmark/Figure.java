// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

/**
 * One measured value, a line of {@code raw.csv}.
 *
 * @param experiment the {@linkplain Experiment#name() experiment}
 * @param subject what was measured: one of the constants of {@link Subject}
 * @param parameter under which circumstances, such as {@code pending=10000}; empty if there is but one
 * @param round from 1; 0 for what is measured once, outside of the rounds
 * @param metric what the value is
 * @param value the value
 * @param unit its unit, such as {@code messages/s}
 */
public record Figure(
        String experiment, String subject, String parameter, int round, String metric, double value, String unit) {}
