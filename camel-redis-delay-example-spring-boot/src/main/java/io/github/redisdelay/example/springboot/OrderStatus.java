// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;

/**
 * The answer to who places an order, or asks for it.
 *
 * @param closesAt when it is closed unless it is paid; null if its closing does not wait any more
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OrderStatus(String order, OrderState state, Instant closesAt) {}
