// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server, as far as the worth of its answer to {@code WAITAOF} depends on it. With {@code appendfsync everysec} Redis
 * 7.4.0 to 7.4.2, the previews of 8.0 (7.9) and Valkey answer before the fsync (redis/redis pull request 13793).
 *
 * @param info its {@code INFO server}
 * @param policy its {@code appendfsync}
 */
record AofServer(String info, String policy) {

    private static final Pattern EVERYSEC_HOLDS = Pattern.compile("7\\.2\\..*|7\\.4\\.(?![012]$).*|(8|9|\\d\\d+)\\..*");

    /** The reason why its answer proves nothing; null if a change that it says is on its disk outlives a power cut. */
    String fault() {
        String valkey = version("valkey");
        String redis = version("redis");
        boolean everysecHolds =
                valkey == null && redis != null && EVERYSEC_HOLDS.matcher(redis).matches();
        if (policy.equals("always") || (policy.equals("everysec") && everysecHolds)) {
            return null;
        }
        String name =
                valkey != null ? "Valkey " + valkey : "Redis " + (redis == null ? "of an unknown version" : redis);
        return name + " has appendfsync " + policy
                + ", with which WAITAOF does not prove that a change is on disk: set appendfsync "
                + (everysecHolds
                        ? "everysec or always"
                        : "always (everysec suffices on Redis 7.2, and from 7.4.3 on, not on Valkey)");
    }

    private String version(String product) {
        Matcher line = Pattern.compile("(?m)^" + product + "_version:(\\S+)").matcher(info);
        return line.find() ? line.group(1) : null;
    }
}
