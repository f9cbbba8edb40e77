// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.redisdelay.imports.ImportCodec;
import io.github.redisdelay.imports.ImportConverter;
import io.github.redisdelay.imports.ImportRefusedException;
import io.github.redisdelay.imports.ImportedMessage;
import java.util.Map;

/** Orders that JsonJacksonCodec wrote, as JSON without the names of classes. */
public class JsonOrders implements ImportConverter {

    private final ObjectMapper json = new ObjectMapper();

    @Override
    public ImportedMessage convert(byte[] payload) {
        try {
            String body = (String) ImportCodec.PLAIN_JSON.convert(payload).body();
            String id = json.readTree(body).required("id").asText();
            return new ImportedMessage(body, id, Map.of("Content-Type", "application/json"));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new ImportRefusedException("it is no order in JSON: " + e.getMessage(), e);
        }
    }
}
