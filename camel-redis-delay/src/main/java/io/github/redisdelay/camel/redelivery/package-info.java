// SPDX-License-Identifier: Apache-2.0
/** Redelivery policies: a consumer's, and those that messages bring along. They only compute, and do nothing. */
package io.github.redisdelay.camel.redelivery;
