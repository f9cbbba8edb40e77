// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.exception.ShownId;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The built-in converters of what a codec of Redisson wrote. Each loads no class that a payload names, calls no
 * constructor and no {@code readObject} of such a class, and takes no memory for what a payload only announces. A
 * payload that is not wholly understood is refused.
 */
public enum ImportCodec implements ImportConverter {
    /** Text, if the payload is well-formed UTF-8, else its bytes: what {@code StringCodec} wrote. */
    STRING("string", payload -> utf8(payload).<Object>map(text -> text).orElse(payload)),

    /** JSON as it stands, as text; refused if it is no JSON. */
    JSON("json", payload -> JsonText.checked(json(payload))),

    /**
     * JSON without the names of classes that {@code JsonJacksonCodec} wrote into it: members {@code @class} that are
     * text, and {@code ["java.util.Date",1700000000000]}, which becomes its second element. Numbers and texts keep each
     * character; spaces are left out.
     *
     * <p>One thing cannot be told apart: an array of two in an application's {@code String[]} whose first text looks
     * like the name of a class ({@code ["com.example.Order","42"]}: a point in it, and an upper-case letter after the
     * last one) becomes its second text.
     */
    PLAIN_JSON("plainJson", payload -> JsonText.withoutClasses(json(payload))),

    /**
     * Kryo 5, the default of Redisson 3.20.1 to 4.7.0: text, numbers, booleans, a {@code Character} (as text) and
     * {@code byte[]}. Text of a {@code Kryo5Codec} with {@code useReferences=true} is refused.
     */
    KRYO5("kryo5", payload -> new Kryo5Reader(payload).value()),

    /**
     * JBoss Marshalling's protocol River: text, numbers of {@code java.lang}, booleans, a {@code Character} (as text)
     * and {@code byte[]}.
     */
    MARSHALLING("marshalling", payload -> new RiverReader(payload).value()),

    /**
     * FST: text, numbers of {@code java.lang}, {@code BigInteger}, booleans, a {@code Character} (as text) and
     * {@code byte[]}.
     */
    FST("fst", payload -> new FstReader(payload).value()),

    /** The bytes as they are, for a route that decodes them itself. */
    RAW("raw", payload -> payload);

    private static final int SHOWN_BYTES = 16;

    private final String optionValue;
    private final Function<byte[], Object> reader;

    ImportCodec(String optionValue, Function<byte[], Object> reader) {
        this.optionValue = optionValue;
        this.reader = reader;
    }

    /** The name by which options choose it. */
    public String optionValue() {
        return optionValue;
    }

    /**
     * The codec that an option names.
     *
     * @throws IllegalArgumentException if there is none of that name
     */
    public static ImportCodec of(String optionValue) {
        return Arrays.stream(values())
                .filter(codec -> codec.optionValue.equals(optionValue))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException("there is no codec '" + OptionValues.shown(optionValue)
                        + "': it must be " + names() + ", or set 'import.converter' to a converter of your own"));
    }

    /** The names of all, for errors. */
    public static String names() {
        return Arrays.stream(values()).map(ImportCodec::optionValue).collect(Collectors.joining(", "));
    }

    @Override
    public ImportedMessage convert(byte[] payload) {
        try {
            return ImportedMessage.of(reader.apply(payload));
        } catch (ImportRefusedException | IllegalArgumentException e) {
            throw new ImportRefusedException(
                    "codec '" + optionValue + "' cannot convert a payload of " + payload.length + " bytes: "
                            + ShownId.of(e.getMessage()) + "; it begins with " + firstBytes(payload),
                    e);
        }
    }

    /** The first bytes of a payload in hex. */
    static String firstBytes(byte[] payload) {
        String hex = HexFormat.ofDelimiter(" ").formatHex(payload, 0, Math.min(SHOWN_BYTES, payload.length));
        return payload.length == 0 ? "nothing" : payload.length > SHOWN_BYTES ? hex + " …" : hex;
    }

    /** The payload as text, if it is well-formed UTF-8. */
    static Optional<String> utf8(byte[] payload) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static String json(byte[] payload) {
        return utf8(payload)
                .orElseThrow(() -> new ImportRefusedException("it is no JSON: it is not well-formed UTF-8"));
    }
}
