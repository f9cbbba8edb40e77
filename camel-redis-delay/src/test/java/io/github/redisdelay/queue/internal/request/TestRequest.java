// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;

/** A request whose answer is read as text: its id, the outcome and the value. Outcome 9 is an error. */
class TestRequest extends Request<String> {

    TestRequest(LuaScript script, String id, int bytes, long deadlineNanos, Object... arguments) {
        super(QueueAddress.of("redis-delay", "orders"), script, id, bytes, arguments);
        waitUntil(deadlineNanos);
    }

    @Override
    protected boolean stores() {
        return script() == LuaScript.SCHEDULE;
    }

    @Override
    protected String read(long timeMicros, int outcome, long valueMicros) {
        if (outcome == 9) {
            throw new IllegalArgumentException("outcome 9 of " + id());
        }
        return id() + ":" + outcome + ":" + valueMicros;
    }
}
