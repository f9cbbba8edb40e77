// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import java.math.BigDecimal;

public record Order(String id, String customer, BigDecimal amount) {}
