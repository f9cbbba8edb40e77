// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A Spring Boot application with the component. Nothing connects the two: Camel finds the RedissonClient bean. */
@SpringBootApplication
public class OrdersApplication {

    public static void main(String[] args) {
        SpringApplication.run(OrdersApplication.class, args);
    }
}
