// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** Reads what is stored about dead letters. */
final class FailureRecords {

    private FailureRecords() {}

    /** The state records of a queue's dead letters as text: their last part is the failure. */
    static String ofDeadLetter(RedissonClient redis, String queue) {
        return redis
                .<byte[], byte[]>getMap("redis-delay:{" + queue + "}:dead:state", ByteArrayCodec.INSTANCE)
                .readAllValues()
                .stream()
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .collect(Collectors.joining("\n"));
    }
}
