// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class OrderController {

    /** What became of the order, and of its message. */
    public record Answer(String order, String message) {}

    private final OrderService service;
    private final OrderTable table;

    public OrderController(OrderService service, OrderTable table) {
        this.service = service;
        this.table = table;
    }

    @PostMapping("/orders")
    public Answer place(@RequestBody Order order) {
        service.place(order);
        return show(order.id());
    }

    @PostMapping("/orders/{id}/payment")
    public Answer pay(@PathVariable String id) {
        service.pay(id);
        return show(id);
    }

    @GetMapping("/orders/{id}")
    public Answer show(@PathVariable String id) {
        return new Answer(table.state(id), service.message(id));
    }
}
