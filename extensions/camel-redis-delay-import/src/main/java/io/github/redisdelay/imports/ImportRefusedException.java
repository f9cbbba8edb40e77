// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

/**
 * The refusal of a payload by an {@link ImportConverter}: it cannot become a message, and stays where it is. The
 * message of the exception says why; it is logged, so it should name a class or a format rather than what the payload
 * holds.
 */
public class ImportRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** @param reason why the payload cannot be converted */
    public ImportRefusedException(String reason) {
        super(reason);
    }

    /**
     * @param reason why the payload cannot be converted
     * @param cause what a library has thrown
     */
    public ImportRefusedException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
