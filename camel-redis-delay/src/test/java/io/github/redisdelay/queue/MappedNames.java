// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** A client with a NameMapper. */
public final class MappedNames {

    private MappedNames() {}

    /**
     * Connects a client that puts a prefix before each name.
     *
     * @return to be shut down
     */
    public static RedissonClient connect(String address, String prefix) throws ReflectiveOperationException {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1);
        // The type has another package in Redisson 3.
        Method setter = Stream.of(SingleServerConfig.class.getMethods())
                .filter(method -> method.getName().equals("setNameMapper"))
                .findFirst()
                .orElseThrow();
        Object mapper = Proxy.newProxyInstance(
                MappedNames.class.getClassLoader(),
                setter.getParameterTypes(),
                (proxy, method, name) -> method.getName().equals("map") ? prefix + name[0] : name[0]);
        setter.invoke(config.useSingleServer(), mapper);
        return Redisson.create(config);
    }
}
