// SPDX-License-Identifier: Apache-2.0
/** The servers by which requests come: the JDK's, and those of Camel's HTTP components. */
package io.github.redisdelay.console.server;
