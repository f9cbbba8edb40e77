// SPDX-License-Identifier: Apache-2.0
/** The stored form of messages and of failures, and its mapping to the messages and headers of Camel. */
package io.github.redisdelay.camel.message;
