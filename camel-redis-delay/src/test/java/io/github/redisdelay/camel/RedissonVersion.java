// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.redisson.config.Config;

/** The line of Redisson with which the tests run. */
public final class RedissonVersion {

    /** True for Redisson 3: settings that Redisson 4 has for all servers belong to one kind of them. */
    public static final boolean IS_3 =
            Arrays.stream(Config.class.getMethods()).map(Method::getName).noneMatch("setUsername"::equals);

    private RedissonVersion() {}
}
