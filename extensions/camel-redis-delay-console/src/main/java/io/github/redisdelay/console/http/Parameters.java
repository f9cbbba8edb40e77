// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.queue.exception.ShownId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.camel.util.json.DeserializationException;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;

/** Reads the parameters of a request: its query, or the JSON object in its body. */
final class Parameters {

    /** The most bytes of a body. */
    static final int MAX_BODY = 64 * 1024;

    private static final int MAX_MEMBERS = 16;

    private Parameters() {}

    /** @param known the names that there may be */
    static Map<String, Object> ofQuery(String query, Set<String> known) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        if (query == null || query.isEmpty()) {
            return parameters;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            if (!known.contains(name)) {
                throw Call.bad("There is no parameter '" + ShownId.of(name) + "'.");
            }
            if (parameters.put(name, equals < 0 ? "" : decode(pair.substring(equals + 1))) != null) {
                throw Call.bad("Parameter '" + name + "' is given twice.");
            }
        }
        return parameters;
    }

    /** As browsers write it; what is not UTF-8 is refused, and not replaced. */
    private static String decode(String text) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
                int low = high < 0 ? -1 : Character.digit(text.charAt(i + 2), 16);
                if (low < 0) {
                    throw notEncoded();
                }
                bytes[length++] = (byte) (high << 4 | low);
                i += 2;
            } else if (c > ' ' && c < 0x7f && c != ';') { // which some servers take for &
                bytes[length++] = c == '+' ? (byte) ' ' : (byte) c;
            } else {
                throw notEncoded();
            }
        }
        try {
            return text(bytes, length);
        } catch (CharacterCodingException e) {
            throw notEncoded();
        }
    }

    private static RuntimeException notEncoded() {
        return Call.bad("The address is not encoded as UTF-8 by %xx.");
    }

    private static String text(byte[] bytes, int length) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes, 0, length))
                .toString();
    }

    static Map<String, Object> ofBody(InputStream body) {
        try {
            byte[] bytes = body.readNBytes(MAX_BODY + 1);
            if (bytes.length > MAX_BODY) {
                throw tooLarge();
            }
            String text = text(bytes, bytes.length);
            if (Jsoner.deserialize(text) instanceof JsonObject json) {
                return checked(json, text);
            }
            throw Call.bad("The body has to be a JSON object.");
        } catch (CharacterCodingException | DeserializationException | NumberFormatException e) {
            throw Call.bad("The body is not JSON in UTF-8.");
        } catch (IOException e) {
            throw new Refusal(408, "badRequest", "The body did not arrive.");
        }
    }

    /** The log has all members of a change: there must be few, and none that holds others. */
    private static Map<String, Object> checked(JsonObject json, String text) {
        if (json.size() > MAX_MEMBERS
                || json.values().stream().anyMatch(value -> value instanceof Map || value instanceof Collection)) {
            throw Call.bad("The body has to be a JSON object of at most " + MAX_MEMBERS
                    + " members, each a text, a number, true, false or null.");
        }
        if (colons(text) != json.size()) {
            throw Call.bad("The body has a member twice.");
        }
        return json;
    }

    /** The colons outside of texts: as many as an object has members, where none of them holds others. */
    private static int colons(String json) {
        int colons = 0;
        boolean quoted = false;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == '\\' && quoted) {
                i++;
            } else if (c == ':' && !quoted) {
                colons++;
            }
        }
        return colons;
    }

    static Refusal tooLarge() {
        return new Refusal(413, "tooLarge", "The body is larger than " + MAX_BODY / 1024 + " KiB.");
    }
}
