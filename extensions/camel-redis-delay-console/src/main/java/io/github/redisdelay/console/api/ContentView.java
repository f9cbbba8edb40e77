// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.MessageRedactor;
import io.github.redisdelay.console.MessageRedactor.Content;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.camel.util.json.DeserializationException;
import org.apache.camel.util.json.Jsoner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The view of a message's headers and body. It makes objects of text, numbers and times only. */
final class ContentView {

    private static final Logger LOG = LoggerFactory.getLogger(ContentView.class);

    /** The most bytes of a body that are shown. */
    static final int MOST_BODY = 64 * 1024;

    private static final int MOST_HEADERS = 1000;
    private static final int MOST_VALUE = 4096;

    private final Pattern hidden;
    private final boolean bodies;
    private final MessageRedactor redactor;

    /**
     * A header.
     *
     * @param value null if it is hidden
     */
    public record Header(String name, String type, String value, boolean hidden) {}

    /** The settings that were scheduled with a message for it alone; each is null if it was not set. */
    public record Policy(Long timeToLiveMicros, Long deduplicationPeriodMicros, String retry) {}

    /**
     * A body.
     *
     * @param shown false if bodies are not shown
     * @param kind {@code text}, {@code json}, {@code bytes} or {@code empty}
     * @param size in bytes
     * @param truncated true if only its beginning is here
     * @param text null if it is none
     * @param hex its bytes as hexadecimal digits
     */
    public record Body(boolean shown, String kind, int size, boolean truncated, String text, String hex) {}

    /**
     * The headers and the body of a message, beside its {@link MessageViews.Message}.
     *
     * @param unreadable why the stored bytes cannot be read as a message; then the body is all of them. Else null
     */
    public record Shown(
            Instant scheduled, List<Header> headers, String contentType, Policy policy, String unreadable, Body body) {}

    /**
     * @param hidden the names of headers whose values are hidden
     * @param redactor null for none
     */
    ContentView(Pattern hidden, boolean bodies, MessageRedactor redactor) {
        this.hidden = hidden;
        this.bodies = bodies;
        this.redactor = redactor;
    }

    Shown of(String queue, StoredMessage stored) {
        Instant scheduled = Times.of(stored.scheduledMicros());
        Envelope envelope;
        try {
            envelope = Envelope.decode(stored.body());
        } catch (EnvelopeFormatException e) {
            Content raw = redacted(queue, stored, new Content(null, Map.of(), stored.body()));
            return new Shown(scheduled, List.of(), null, null, e.getMessage(), body(raw));
        }
        Content content =
                redacted(queue, stored, new Content(envelope.contentType(), envelope.headers(), envelope.body()));
        Envelope.Settings settings = envelope.settings();
        return new Shown(
                scheduled,
                headers(content.headers()),
                content.contentType(),
                new Policy(
                        micros(settings.timeToLive()), micros(settings.deduplicationPeriod()), settings.retryPolicy()),
                null,
                body(content));
    }

    /** A body to save, in full. */
    byte[] bytes(String queue, StoredMessage stored) {
        Content content;
        try {
            Envelope envelope = Envelope.decode(stored.body());
            content = new Content(envelope.contentType(), envelope.headers(), envelope.body());
        } catch (EnvelopeFormatException e) {
            content = new Content(null, Map.of(), stored.body());
        }
        return bytes(redacted(queue, stored, content).body());
    }

    private Content redacted(String queue, StoredMessage stored, Content content) {
        if (redactor == null) {
            return content;
        }
        try {
            return redactor.redact(queue, stored.info().id(), content);
        } catch (RuntimeException e) {
            LOG.warn("queue '{}': a message is shown without its content, because the redactor failed", queue, e);
            return new Content(null, Map.of(), null);
        }
    }

    private static byte[] bytes(Object body) {
        return body == null
                ? new byte[0]
                : body instanceof byte[] bytes ? bytes : body.toString().getBytes(StandardCharsets.UTF_8);
    }

    private Body body(Content content) {
        byte[] all = bytes(content.body());
        boolean truncated = all.length > MOST_BODY;
        byte[] bytes = truncated ? Arrays.copyOf(all, MOST_BODY) : all;
        String text = content.body() == null ? null : text(bytes, truncated, !(content.body() instanceof byte[]));
        String kind = content.body() == null
                ? "empty"
                : text == null ? "bytes" : !truncated && isJson(text, content.contentType()) ? "json" : "text";
        return new Body(
                bodies,
                kind,
                all.length,
                truncated,
                bodies ? text : null,
                bodies ? HexFormat.of().formatHex(bytes) : null);
    }

    /**
     * Bytes as text; null if they are none.
     *
     * @param truncated whether the last character may not be complete
     * @param any whether it is text in any case, also with control characters
     */
    private static String text(byte[] bytes, boolean truncated, boolean any) {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        CharBuffer text = CharBuffer.allocate(bytes.length);
        if (decoder.decode(ByteBuffer.wrap(bytes), text, !truncated).isError()) {
            return null;
        }
        String decoded = text.flip().toString();
        return any || decoded.chars().noneMatch(c -> Character.isISOControl(c) && "\t\n\r".indexOf(c) < 0)
                ? decoded
                : null;
    }

    private static boolean isJson(String text, String contentType) {
        String stripped = text.strip();
        boolean declared =
                contentType != null && contentType.toLowerCase(Locale.ROOT).contains("json");
        if (stripped.isEmpty() || !declared && "{[".indexOf(stripped.charAt(0)) < 0) {
            return false;
        }
        try {
            Jsoner.deserialize(stripped);
            return true;
        } catch (DeserializationException | RuntimeException e) {
            return false;
        }
    }

    private List<Header> headers(Map<String, Object> headers) {
        List<Header> shown = new ArrayList<>();
        headers.forEach((name, value) -> {
            if (shown.size() < MOST_HEADERS) {
                boolean hides = hidden.matcher(name).find();
                shown.add(new Header(name, type(value), hides ? null : value(value), hides));
            }
        });
        return shown;
    }

    private static String type(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof byte[]) {
            return "bytes";
        }
        if (value instanceof Integer) {
            return "int";
        }
        if (value instanceof Instant) {
            return "time";
        }
        String name = value.getClass().getSimpleName();
        return value instanceof UUID ? "uuid" : Character.toLowerCase(name.charAt(0)) + name.substring(1);
    }

    private static String value(Object value) {
        String text = value instanceof byte[] bytes
                ? HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, MOST_VALUE / 2 + 1))
                : String.valueOf(value);
        return text.length() <= MOST_VALUE ? text : text.substring(0, MOST_VALUE) + "…";
    }

    private static Long micros(Duration duration) {
        try {
            return duration == null ? null : Math.multiplyExact(duration.toMillis(), 1000L);
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }
}
