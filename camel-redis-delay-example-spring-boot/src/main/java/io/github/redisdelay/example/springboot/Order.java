// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import java.math.BigDecimal;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;

/**
 * An order, as the shop takes it and as it waits in Redis.
 *
 * @param paymentWindow how long the customer has to pay it, in ISO-8601 such as {@code PT10S}; null for that of the
 *     shop
 */
public record Order(
        @NotNull @Pattern(regexp = "[\\w.-]{1,64}", message = "must be 1 to 64 letters, digits, '.', '_' or '-'")
        String id,

        @NotBlank String customer,
        @NotNull @Positive BigDecimal amount,
        @DurationMin(millis = 1) Duration paymentWindow) {}
