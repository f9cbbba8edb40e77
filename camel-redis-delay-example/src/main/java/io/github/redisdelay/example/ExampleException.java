// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

/** The reason why the example cannot start, in words for the person who started it. */
final class ExampleException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ExampleException(String message) {
        super(message);
    }

    ExampleException(String message, Throwable cause) {
        super(message, cause);
    }
}
