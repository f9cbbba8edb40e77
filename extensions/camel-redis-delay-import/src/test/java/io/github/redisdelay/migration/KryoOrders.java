// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.redisdelay.imports.ImportConverter;
import io.github.redisdelay.imports.ImportRefusedException;
import io.github.redisdelay.imports.ImportedMessage;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.redisson.codec.Kryo5Codec;

/** Orders that Kryo5Codec wrote, as JSON. */
public class KryoOrders implements ImportConverter {

    /** The classes that an order is made of, and no others. */
    private static final Set<String> ALLOWED =
            Set.of(Order.class.getName(), Order.Color.class.getName(), "java.util.ArrayList", "java.util.Date");

    private final Kryo5Codec codec = new Kryo5Codec(new ClassLoader(Order.class.getClassLoader()) {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!ALLOWED.contains(name)) {
                // Not a ClassNotFoundException: after one, Kryo asks another class loader.
                throw new SecurityException("class " + name + " is not allowed");
            }
            return super.loadClass(name, resolve);
        }
    });

    private final ObjectMapper json = new ObjectMapper();

    @Override
    public ImportedMessage convert(byte[] payload) {
        try {
            Order order = (Order) codec.getValueDecoder().decode(Unpooled.wrappedBuffer(payload), null);
            return new ImportedMessage(
                    json.writeValueAsString(order), order.getId(), Map.of("Content-Type", "application/json"));
        } catch (IOException | RuntimeException e) {
            throw new ImportRefusedException("it is no order that Kryo5Codec wrote: " + e.getMessage(), e);
        }
    }
}
