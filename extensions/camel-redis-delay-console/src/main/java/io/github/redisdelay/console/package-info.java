// SPDX-License-Identifier: Apache-2.0
/**
 * A web page to look into delay queues, and to act on them. Start with
 * {@link io.github.redisdelay.console.RedisDelayConsole}.
 *
 * <p>This package is what users write: the console, and who may do what. Its packages, each of which may use those
 * above it:
 *
 * <table>
 * <caption>Packages of the console</caption>
 * <tr><td>{@code console.api}</td><td>views of queues and actions on them, as plain records; knows no HTTP</td></tr>
 * <tr><td>{@code console.http}</td><td>requests, the table of paths, who is let in; knows no server</td></tr>
 * <tr><td>{@code console.server}</td><td>the servers by which requests come: the JDK's, and Camel's HTTP components</td></tr>
 * <tr><td>{@code console}</td><td>the entry, which wires all of them</td></tr>
 * </table>
 *
 * <p>The page itself is the resource files in {@code console/page}.
 */
package io.github.redisdelay.console;
