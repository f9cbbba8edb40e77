// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import org.apache.camel.main.Main;

/** Starts the example. */
public final class ExampleApplication {

    private ExampleApplication() {}

    public static void main(String[] args) throws Exception {
        System.out.println("camel-redis-delay example");
        new Main(ExampleApplication.class).run(args);
    }
}
