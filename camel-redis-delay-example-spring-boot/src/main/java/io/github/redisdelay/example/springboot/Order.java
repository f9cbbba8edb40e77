// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import java.math.BigDecimal;

/** An order, as far as its closing needs it. */
public record Order(String id, String customer, BigDecimal amount) {}
