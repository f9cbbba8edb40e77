// SPDX-License-Identifier: Apache-2.0
/** The component's threads: those on which exchanges are routed and go on, and its timers; pools that users give. No other package makes a thread. */
package io.github.redisdelay.camel.thread;
