// SPDX-License-Identifier: Apache-2.0
/**
 * The starter for Spring Boot 3 and 4: sets {@code camel.component.redis-delay.*} on the component. Nothing here names
 * a type that only one of the two has.
 */
package io.github.redisdelay.springboot;
