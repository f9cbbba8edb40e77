// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import org.apache.camel.Exchange;
import org.apache.camel.spi.ExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For a consumer whose exchanges are expected to fail, and whose route says so in a line: without it, Camel logs each failure
 * once more, with its stack trace.
 */
final class ToldFailures implements ExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(ToldFailures.class);

    @Override
    public void handleException(Throwable exception) {
        handleException(exception.getMessage(), exception);
    }

    @Override
    public void handleException(String message, Throwable exception) {
        LOG.warn(message, exception);
    }

    @Override
    public void handleException(String message, Exchange exchange, Throwable exception) {
        if (exchange == null) {
            handleException(message, exception);
        } else {
            LOG.debug(message, exception);
        }
    }
}
