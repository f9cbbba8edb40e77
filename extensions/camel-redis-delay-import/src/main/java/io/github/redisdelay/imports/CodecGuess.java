// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.util.Optional;

/**
 * A guess at the codec that wrote a payload, for somebody who looks before an import. It rests on one payload: look at
 * several, and at the configuration of the application that wrote them.
 *
 * @param codec the built-in codec to try
 * @param reason what the guess rests on, or why the codec will refuse it
 */
public record CodecGuess(ImportCodec codec, String reason) {

    private static final int JAVA_SERIALIZATION = 0xACED;

    /** A guess by the first bytes of a payload, and by what reads the whole of it. */
    public static CodecGuess of(byte[] payload) {
        if (payload.length == 0) {
            return new CodecGuess(ImportCodec.STRING, "it has no bytes: StringCodec's empty text");
        }
        if (payload.length >= 2 && ((payload[0] & 0xFF) << 8 | payload[1] & 0xFF) == JAVA_SERIALIZATION) {
            return new CodecGuess(ImportCodec.RAW, "ac ed is Java serialization: use an ImportConverter of your own");
        }
        Optional<String> text = ImportCodec.utf8(payload);
        return text.flatMap(CodecGuess::json)
                .or(() -> binary(payload))
                .or(() -> text.filter(CodecGuess::isPrintable)
                        .map(printable -> new CodecGuess(ImportCodec.STRING, "it is UTF-8 without control characters")))
                .orElseGet(() -> new CodecGuess(
                        ImportCodec.RAW, "no codec is known that begins so: " + ImportCodec.firstBytes(payload)));
    }

    /** Text in quotes, an object or an array; a number alone is more likely to be a text. */
    private static Optional<CodecGuess> json(String text) {
        String stripped = text.strip();
        if (stripped.isEmpty() || "{[\"".indexOf(stripped.charAt(0)) < 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    JsonText.namesClasses(text)
                            ? new CodecGuess(ImportCodec.PLAIN_JSON, "it is JSON that names classes")
                            : new CodecGuess(ImportCodec.JSON, "it is JSON"));
        } catch (ImportRefusedException e) {
            return Optional.empty();
        }
    }

    private static Optional<CodecGuess> binary(byte[] payload) {
        int first = payload[0] & 0xFF;
        int second = payload.length > 1 ? payload[1] & 0xFF : -1;
        // In this order: five bytes that begin with 04 may be a short text of River, or a Float of Kryo 5.
        return whole(ImportCodec.MARSHALLING, payload)
                .or(() -> whole(ImportCodec.KRYO5, payload))
                .or(() -> whole(ImportCodec.FST, payload))
                .or(() -> first == 0x01 && second == 0x00 || first == 0x03
                        ? refused(ImportCodec.KRYO5, payload)
                        : Optional.empty())
                .or(() -> first == 0x04 && (second == 0x04 || second >= 0x3D && second <= 0x82)
                        ? refused(ImportCodec.MARSHALLING, payload)
                        : Optional.empty())
                .or(() -> first == 0x00 && second >= 0 || first >= 0xFA && first <= 0xFC
                        ? refused(ImportCodec.FST, payload)
                        : Optional.empty());
    }

    /** No queue of Redisson's holds null, so what reads as null is something else. */
    private static Optional<CodecGuess> whole(ImportCodec codec, byte[] payload) {
        try {
            return Optional.ofNullable(codec.convert(payload).body())
                    .map(body -> new CodecGuess(
                            codec,
                            "the codec reads the whole payload: "
                                    + body.getClass().getSimpleName()));
        } catch (ImportRefusedException e) {
            return Optional.empty();
        }
    }

    /** A codec that has just not read the whole payload: the reason says why. */
    private static Optional<CodecGuess> refused(ImportCodec codec, byte[] payload) {
        try {
            throw new IllegalStateException("read at the second attempt: " + codec.convert(payload));
        } catch (ImportRefusedException e) {
            return Optional.of(new CodecGuess(codec, "the first bytes are its own, but " + e.getMessage()));
        }
    }

    private static boolean isPrintable(String text) {
        return text.chars().noneMatch(c -> Character.isISOControl(c) && "\t\r\n".indexOf(c) < 0);
    }
}
