// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.migration.JsonOrders;
import io.github.redisdelay.migration.KryoOrders;
import io.github.redisdelay.migration.Order;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.redisson.codec.JsonJacksonCodec;

/** The converters that the guide shows: orders of Kryo 5 and no other class, and orders in JSON. */
class ImportConverterTest {

    private final ImportConverter converter = new KryoOrders();

    private static byte[] payload(String name) {
        return Payload.of("kryo5", name).bytes();
    }

    @Test
    void should_convert_the_orders_of_each_Redisson() {
        assertThat(Payload.of("kryo5").stream().filter(payload -> payload.name().equals("refused-order")))
                .hasSize(4)
                .allSatisfy(payload -> assertThat(converter.convert(payload.bytes()))
                        .isEqualTo(new ImportedMessage("""
                                        {"id":"order-1","cents":4711,"at":1700000000000,"lines":["a","b"],"color":"RED"}""", "order-1", Map.of("Content-Type", "application/json"))));
    }

    @Test
    void should_refuse_other_classes_again_and_again() {
        for (int i = 0; i < 3; i++) {
            for (String name : new String[] {"refused-uuid", "refused-hashmap", "refused-throwable", "text-ascii"}) {
                assertThatThrownBy(() -> converter.convert(payload(name)))
                        .isInstanceOf(ImportRefusedException.class)
                        .hasMessageStartingWith("it is no order that Kryo5Codec wrote: ");
            }
            byte[] unknown = "\1\0com.example.Evi".getBytes(StandardCharsets.ISO_8859_1);
            byte[] named = Arrays.copyOf(unknown, unknown.length + 1);
            named[unknown.length] = (byte) ('l' | 0x80);
            assertThatThrownBy(() -> converter.convert(named))
                    .isInstanceOf(ImportRefusedException.class)
                    .hasMessageContaining("class com.example.Evil is not allowed");
        }
        assertThat(converter.convert(payload("refused-order")).id()).isEqualTo("order-1");
    }

    @Test
    void should_convert_orders_in_json() throws IOException {
        ByteBuf written = new JsonJacksonCodec().getValueEncoder().encode(new Order());
        byte[] payload = ByteBufUtil.getBytes(written);
        written.release();
        assertThat(new String(payload, StandardCharsets.UTF_8)).contains("\"@class\":");

        ImportedMessage message = new JsonOrders().convert(payload);
        assertThat(message.id()).isEqualTo("order-1");
        assertThat(message.body())
                .asString()
                .contains("\"id\":\"order-1\"", "\"cents\":4711")
                .doesNotContain("@class");
        assertThat(message.headers()).containsEntry("Content-Type", "application/json");
    }

    @Test
    void should_refuse_json_without_an_id() {
        for (String text : new String[] {"{\"cents\":1}", "[]", "\"order-1\"", "{", ""}) {
            assertThatThrownBy(() -> new JsonOrders().convert(text.getBytes(StandardCharsets.UTF_8)))
                    .as(text)
                    .isInstanceOf(ImportRefusedException.class);
        }
    }
}
