// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import java.util.List;
import org.redisson.api.RedissonClient;

/** Ours: a route on each side, in contexts of their own, with the options that they have by default. */
final class CamelMessaging implements Messaging {

    private static final String QUEUE = "lateness";

    private final CamelReceiver receiver;
    private final CamelSender sender;

    CamelMessaging(RedissonClient redisson, LatenessRecorder recorder) throws Exception {
        receiver = CamelReceiver.start(
                redisson,
                List.of(QUEUE),
                "",
                exchange -> recorder.arrived(exchange.getMessage().getBody(byte[].class)));
        sender = CamelSender.start(redisson, List.of(QUEUE));
    }

    @Override
    public void send(long number, long dueMicros, byte[] body) throws Exception {
        sender.sendAt(0, dueMicros, body);
    }

    @Override
    public void awaitStored() throws Exception {
        sender.awaitStored();
    }

    @Override
    public void close() {
        sender.close();
        receiver.close();
    }
}
