// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.math.BigDecimal;

/**
 * An order as it arrives: a JSON object with these fields. The first four are needed, others than these are ignored.
 *
 * @param id up to 64 letters, digits, dots, dashes and underscores
 * @param amount what is to be paid, more than 0
 * @param paymentWindow how long the customer may take to pay, such as {@code 20s} or {@code 30m}
 * @param notifyUrl where a partner wants to hear what became of the order, or null
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Order(
        String id,
        String customer,
        BigDecimal amount,
        String paymentWindow,
        String currency,
        String email,
        String article,
        Integer quantity,
        String notifyUrl) {

    public Order {
        if (id == null || !id.matches("[A-Za-z0-9._-]{1,64}")) {
            throw new IllegalArgumentException(
                    "id '" + id + "': it must be 1 to 64 letters, digits, dots, dashes and underscores");
        }
        if (customer == null || customer.isBlank()) {
            throw new IllegalArgumentException("order " + id + " has no customer");
        }
        if (amount == null || amount.signum() <= 0) {
            throw new IllegalArgumentException(
                    "order " + id + ": its amount is " + amount + " and must be more than 0");
        }
        if (paymentWindow == null) {
            throw new IllegalArgumentException("order " + id + " has no paymentWindow, such as 20s or 30m");
        }
        currency = currency == null ? "EUR" : currency;
    }

    /** The amount with its currency, as it stands in the log. */
    public String price() {
        return amount.toPlainString() + " " + currency;
    }
}
