// SPDX-License-Identifier: Apache-2.0
/** Meters of delay queues in a registry of Micrometer. The component finds them where this module is on the class path. */
package io.github.redisdelay.micrometer;
