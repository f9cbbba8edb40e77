// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import java.util.function.LongSupplier;

/**
 * A name under which calls are sent one at a time, each with a higher number than the one before: so Redis executes a call once,
 * however often it arrives.
 *
 * @param name the client's id and what tells the session from the client's others
 * @param numbers the numbers of the calls; all sessions of a client share them
 */
public record Session(byte[] name, LongSupplier numbers) {}
