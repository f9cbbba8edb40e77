// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.Settlement;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.camel.util.json.DeserializationException;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;

/**
 * The failure of a delivery, as it is kept with the message: what an operator needs to find the cause, without a stack
 * trace.
 *
 * <p>Stored as one JSON object in UTF-8 of at most {@link #MAX_BYTES} bytes:
 *
 * <pre>{@code
 * {"attempt":10,"host":"app-1","time":"2030-01-31T10:15:00.123Z","routeId":"notify","reason":"failed",
 *  "exception":"java.net.ConnectException","message":"Connection refused"}
 * }</pre>
 *
 * <p>{@code routeId}, {@code reason}, {@code exception} and {@code message} are missing where there is none; what is too long is cut and
 * ends with an ellipsis. A reader ignores members that it does not know.
 *
 * @param exception the class of the exception; null if there was none, as after markRollbackOnly
 * @param message its message; may be null
 * @param routeId the route that received the message; may be null
 * @param host the host on which it failed
 * @param attempt which delivery failed, 1 for the first
 * @param time when, by the clock of that host
 * @param reason why the message was given up: one of the constants here, or what its route said; null if it was not
 */
public record FailureRecord(
        String exception, String message, String routeId, String host, int attempt, Instant time, String reason) {

    /** Given up because its last delivery failed. */
    public static final String FAILED = "failed";

    /** Given up because its route asked for one more delivery than there may be. */
    public static final String RETRY_AFTER = "retryAfter";

    /** Given up because its deliveries ended by lost leases. */
    public static final String LEASE_EXPIRED = "leaseExpired";

    /** Given up because its time to live was over. */
    public static final String EXPIRED = "expired";

    /** Given up because what is stored cannot be read. */
    public static final String UNREADABLE = "unreadable";

    /** Fewer than {@link io.github.redisdelay.queue.Settlement#MAX_FAILURE_BYTES}, so that the JSON is never cut. */
    public static final int MAX_BYTES = 4000;

    private static final int MAX_NAME_BYTES = 300;
    private static final int MAX_REASON_BYTES = 1000;
    private static final char ELLIPSIS = '…';

    /**
     * Reads a record. Others can write to Redis, too, so nothing is expected of its text.
     *
     * @return null if it is none; members that cannot be read are null, an attempt is 0 and a time 1970
     */
    public static FailureRecord decode(byte[] bytes) {
        if (bytes.length == 0 || bytes.length > Settlement.MAX_FAILURE_BYTES) {
            return null; // no script of ours leaves more
        }
        Object value;
        try {
            value = Jsoner.deserialize(new String(bytes, StandardCharsets.UTF_8));
        } catch (DeserializationException | RuntimeException e) {
            return null;
        }
        if (!(value instanceof JsonObject json)) {
            return null;
        }
        return new FailureRecord(
                text(json, "exception"),
                text(json, "message"),
                text(json, "routeId"),
                text(json, "host"),
                json.get("attempt") instanceof Number attempt ? attempt.intValue() : 0,
                time(text(json, "time")),
                text(json, "reason"));
    }

    /** This failure as the end of its message. */
    public FailureRecord givenUp(String why) {
        return new FailureRecord(exception, message, routeId, host, attempt, time, why);
    }

    private static String text(JsonObject json, String member) {
        return json.get(member) instanceof String text ? text : null;
    }

    private static Instant time(String text) {
        try {
            Instant time = text == null ? Instant.EPOCH : Instant.parse(text);
            time.toEpochMilli(); // overflows far from now
            return time;
        } catch (DateTimeException | ArithmeticException e) {
            return Instant.EPOCH;
        }
    }

    public byte[] encode() {
        JsonObject json = new JsonObject();
        json.put("attempt", attempt);
        put(json, "host", host == null ? "unknown" : host, MAX_NAME_BYTES);
        put(json, "time", time.truncatedTo(ChronoUnit.MILLIS).toString(), MAX_NAME_BYTES);
        put(json, "routeId", routeId, MAX_NAME_BYTES);
        put(json, "reason", reason, MAX_REASON_BYTES);
        put(json, "exception", exception, MAX_NAME_BYTES);
        put(json, "message", message, MAX_BYTES - 20 - bytes(json.toJson()).length);
        return bytes(json.toJson());
    }

    /** Puts a text there, cut so that it takes at most so many bytes. */
    private static void put(JsonObject json, String member, String value, int most) {
        if (value != null) {
            String text = value.length() <= most ? value : value.substring(0, most) + ELLIPSIS;
            while (bytes(Jsoner.escape(text)).length > most) {
                text = text.substring(0, text.length() - 2 - text.length() / 16) + ELLIPSIS;
            }
            json.put(member, text);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The headers that tell a route about the last failure of a message; none if it cannot be read.
     *
     * @param failure a record as it is stored; empty if there was no failure
     * @param deadLetter whether the message is a dead letter, whose reason is a header, too
     */
    public static Map<String, Object> headers(byte[] failure, boolean deadLetter) {
        FailureRecord record = decode(failure);
        if (record == null) {
            return Map.of();
        }
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put(RedisDelayConstants.FAILURE_EXCEPTION, record.exception);
        headers.put(RedisDelayConstants.FAILURE_MESSAGE, record.message);
        headers.put(RedisDelayConstants.FAILURE_ROUTE_ID, record.routeId);
        headers.put(RedisDelayConstants.FAILURE_HOST, record.host);
        headers.put(RedisDelayConstants.FAILURE_ATTEMPTS, record.attempt > 0 ? record.attempt : null);
        headers.put(
                RedisDelayConstants.FAILURE_TIME,
                record.time.equals(Instant.EPOCH) ? null : record.time.toEpochMilli());
        headers.put(RedisDelayConstants.DEAD_LETTER_REASON, deadLetter ? record.reason : null);
        headers.values().removeIf(Objects::isNull);
        return headers;
    }
}
