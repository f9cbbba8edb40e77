// SPDX-License-Identifier: Apache-2.0
/**
 * The envelope: the bytes in which the component stores a message with its headers and its own settings. A contract with other
 * clients; {@code docs/protocol.md} has it. The queue layer itself stores any bytes and never reads an envelope.
 */
package io.github.redisdelay.queue.envelope;
