// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A shop that closes unpaid orders. Nothing connects it with the component: the starters do. */
@SpringBootApplication
public class OrdersApplication {

    public static void main(String[] args) {
        SpringApplication.run(OrdersApplication.class, args);
    }
}
