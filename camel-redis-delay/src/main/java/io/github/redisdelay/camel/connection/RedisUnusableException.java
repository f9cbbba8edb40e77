// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import org.apache.camel.RuntimeCamelException;

/** A Redis cannot be used. The message names its address and what it answered, and no credentials. */
public final class RedisUnusableException extends RuntimeCamelException {

    private static final long serialVersionUID = 1L;

    public RedisUnusableException(String message, Throwable cause) {
        super(message, cause);
    }

    /** None: the message says all, and each route that fails to start would log it. */
    @Override
    public Throwable fillInStackTrace() {
        return this;
    }
}
