// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.List;

/**
 * A part of a queue's messages.
 *
 * @param messages in the order of their due times, for leased ones of the ends of their leases; or in the opposite one, see
 *     {@link PageStart#newest()}
 * @param next where the next page begins, for {@link PageStart#next}; null if there is none. Stays good when messages
 *     come and go meanwhile: none that stays where it is comes twice or is left out.
 */
public record MessagePage(List<MessageInfo> messages, String next) {}
