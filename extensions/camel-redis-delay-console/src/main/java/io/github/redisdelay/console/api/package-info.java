// SPDX-License-Identifier: Apache-2.0
/** Views of queues and actions on them, as plain records. Knows no HTTP. */
package io.github.redisdelay.console.api;
