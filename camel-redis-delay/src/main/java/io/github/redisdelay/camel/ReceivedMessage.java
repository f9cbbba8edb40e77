// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Envelope;

/**
 * A message that may be begun.
 *
 * @param completion finishes its delivery
 * @param envelope what is stored; null for a dead letter whose envelope cannot be read, which is handed over as bytes
 * @param deadLetter whether it is one
 */
record ReceivedMessage(DeliveryCompletion completion, Envelope envelope, boolean deadLetter) {

    Delivery delivery() {
        return completion.delivery();
    }
}
