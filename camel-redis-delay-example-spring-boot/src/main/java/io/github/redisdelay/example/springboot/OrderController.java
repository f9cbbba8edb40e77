// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import jakarta.validation.Valid;
import java.net.URI;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The shop by HTTP. */
@RestController
@RequestMapping("/orders")
class OrderController {

    private final OrderService orders;

    OrderController(OrderService orders) {
        this.orders = orders;
    }

    @PostMapping
    ResponseEntity<OrderStatus> place(@Valid @RequestBody Order order) {
        return ResponseEntity.created(URI.create("/orders/" + order.id())).body(orders.place(order));
    }

    @PostMapping("/{id}/payment")
    ResponseEntity<PaymentAnswer> pay(@PathVariable String id) {
        PaymentAnswer answer = orders.pay(id);
        return ResponseEntity.status(answer.status()).body(answer);
    }

    @GetMapping("/{id}")
    ResponseEntity<OrderStatus> find(@PathVariable String id) {
        return ResponseEntity.of(orders.find(id));
    }
}
