// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows the names of the component's headers. One that begins as they do and is none of them is a misspelt one, and must not mean
 * what holds without it: a message would be delivered now that was meant for later.
 */
final class OwnHeaders {

    private static final Logger LOG = LoggerFactory.getLogger(OwnHeaders.class);

    /** The exchange property of a request whose outcome is not known yet. */
    static final String PENDING_REQUEST = "CamelRedisDelayPendingRequest";

    /** What all names begin with; the shortest of them is no more than that. */
    private static final String PREFIX = RedisDelayConstants.DELAY;

    /** What a route can set to ask for something. */
    static final List<String> ASKING = Stream.concat(
                    ScheduleHeaders.USED_UP.stream(),
                    Stream.of(
                            RedisDelayConstants.SCHEDULE_ID,
                            RedisDelayConstants.RETRY_AFTER,
                            RedisDelayConstants.DEAD_LETTER_REASON,
                            RedisDelayConstants.DEAD_LETTER_ID,
                            RedisDelayConstants.CURSOR))
            .toList();

    /** What chooses among many messages is rarely meant: an id is one of a message rather than of a route. */
    private static final Set<String> CHOOSING = Set.of(
            RedisDelayConstants.ALL,
            RedisDelayConstants.EXCEPTION_CLASS,
            RedisDelayConstants.REASON,
            RedisDelayConstants.ROUTE_ID,
            RedisDelayConstants.LIMIT);

    private static final double RARELY = 0.1;

    /** What the component tells. */
    static final List<String> TELLING = List.of(
            RedisDelayConstants.MESSAGE_ID,
            RedisDelayConstants.QUEUE,
            RedisDelayConstants.SCHEDULED_TIME,
            RedisDelayConstants.DUE_TIME,
            RedisDelayConstants.PREVIOUS_STATE,
            RedisDelayConstants.ATTEMPT,
            RedisDelayConstants.LATENESS,
            RedisDelayConstants.REDELIVERY_REASON,
            RedisDelayConstants.MESSAGE_PRIORITY,
            RedisDelayConstants.MESSAGE_STATE,
            RedisDelayConstants.LEASE_END,
            RedisDelayConstants.HOLDER,
            RedisDelayConstants.RESULT,
            RedisDelayConstants.COUNT,
            RedisDelayConstants.DEAD_LETTER_COUNT,
            RedisDelayConstants.DEAD_LETTER_TIME,
            RedisDelayConstants.FAILURE_EXCEPTION,
            RedisDelayConstants.FAILURE_MESSAGE,
            RedisDelayConstants.FAILURE_ROUTE_ID,
            RedisDelayConstants.FAILURE_HOST,
            RedisDelayConstants.FAILURE_ATTEMPTS,
            RedisDelayConstants.FAILURE_TIME);

    /** What a route can ask for by a property, too. */
    private static final List<String> ASKING_AS_PROPERTIES =
            List.of(RedisDelayConstants.RETRY_AFTER, RedisDelayConstants.DEAD_LETTER_REASON);

    /** What others call it, with hardly a letter in common. The first one that fits counts. */
    private static final List<Synonym> SYNONYMS = List.of(
            new Synonym(
                    RedisDelayConstants.DELAY,
                    "(delay|wait|duration|(due|deliver|delivery)?(in|after))?"
                            + "(m?s|millis(econds)?|sec(ond)?s?|min(ute)?s?|hours?|days?)?"),
            new Synonym(
                    RedisDelayConstants.DELIVER_AT,
                    "due|(due|deliver|delivery|scheduled?)?(at|on|time|date|timestamp|until|when)"),
            new Synonym(RedisDelayConstants.TIME_TO_LIVE, "expir(e|es|y|ation)"),
            new Synonym(RedisDelayConstants.OPERATION, "action|command|cancel|reschedule|promote|redrive|purge"));

    private record Synonym(String known, Pattern names) {

        Synonym(String known, String names) {
            this(known, Pattern.compile(names, Pattern.CASE_INSENSITIVE));
        }
    }

    /** All that are known, by their names in any letter case. */
    private static final Map<String, String> KNOWN_IN_ANY_CASE = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    /**
     * As they are usually written: costs one look by a hash that the name has with it. The exchange properties that the component keeps for
     * itself are known, too.
     */
    private static final Set<String> KNOWN;

    static {
        Stream.of(ASKING, TELLING, List.of(HeldDeliveries.PROPERTY, PENDING_REQUEST))
                .flatMap(List::stream)
                .forEach(name -> KNOWN_IN_ANY_CASE.put(name, name));
        KNOWN = Set.copyOf(KNOWN_IN_ANY_CASE.keySet());
    }

    private static final OncePerName WARNED = new OncePerName();

    private OwnHeaders() {}

    /**
     * Looks at the headers of a message that a producer is to do something with.
     *
     * @throws IllegalArgumentException if one is nearly one of the component's
     */
    static void check(Message message) {
        if (!message.hasHeaders()) {
            return;
        }
        Map<String, Object> headers = message.getHeaders();
        for (String name : headers.keySet()) {
            if (isUnknown(name, headers)) {
                throw new IllegalArgumentException("header '" + Names.shown(name) + "' is unknown: '" + nearest(name)
                        + "' is the nearest that there is; rename or remove it");
            }
        }
    }

    /** Warns of headers and properties of a received exchange that has ended, if they are nearly what it could have asked for. */
    static void warn(Exchange exchange) {
        try {
            if (exchange.getMessage().hasHeaders()) {
                warn("header", exchange.getMessage().getHeaders(), ASKING, exchange);
            }
            if (exchange.hasProperties()) {
                warn("exchange property", exchange.getProperties(), ASKING_AS_PROPERTIES, exchange);
            }
        } catch (RuntimeException e) {
            // Another thread of the user's may still change the headers: that is no reason to deliver a message again.
            LOG.debug("The headers of exchange {} cannot be looked through", exchange.getExchangeId(), e);
        }
    }

    private static void warn(String what, Map<String, Object> all, List<String> asking, Exchange exchange) {
        for (String name : all.keySet()) {
            if (!isUnknown(name, all)) {
                continue;
            }
            String shown = Names.shown(name);
            String note = WARNED.note(shown);
            if (note != null) {
                LOG.warn(
                        "Exchange {} of route '{}' has the {} '{}', which is unknown and means nothing: '{}' is the nearest"
                                + " that there is. {}",
                        exchange.getExchangeId(),
                        exchange.getFromRouteId(),
                        what,
                        shown,
                        nearest(name, asking),
                        note);
            }
        }
    }

    /**
     * Whether a name begins as ours do and is none of them. One in another letter case is ours where Camel finds it by our name, too:
     * among headers, unless it was told otherwise, but never among properties.
     */
    private static boolean isUnknown(String name, Map<String, Object> all) {
        if (!name.regionMatches(true, 0, PREFIX, 0, PREFIX.length()) || KNOWN.contains(name)) {
            return false;
        }
        String known = KNOWN_IN_ANY_CASE.get(name);
        return known == null || !all.containsKey(known);
    }

    /**
     * The header that says for one message what an option says for all; null if there is none.
     *
     * @param option in any letter case
     */
    static String ofOption(String option) {
        return ASKING.stream()
                .filter(name -> option.equalsIgnoreCase(meaning(name)))
                .findFirst()
                .orElse(null);
    }

    /** What was probably meant by a name that is none: of the headers that ask for something, the one most like it. */
    static String nearest(String name) {
        return nearest(name, ASKING);
    }

    private static String nearest(String name, List<String> candidates) {
        String meaning = meaning(Names.shown(name));
        return SYNONYMS.stream()
                .filter(synonym -> synonym.names().matcher(meaning).matches())
                .map(Synonym::known)
                .filter(candidates::contains)
                .findFirst()
                .orElseGet(() -> candidates.stream()
                        .min(Comparator.comparingDouble(
                                known -> distance(meaning, meaning(known)) + (CHOOSING.contains(known) ? RARELY : 0)))
                        .orElseThrow());
    }

    /** What a name says behind what all begin with: {@code DeliverAt}. The shortest, and one that only goes on with it, is about a delay. */
    private static String meaning(String name) {
        boolean word = name.startsWith(PREFIX)
                && (name.length() == PREFIX.length() || Character.isLowerCase(name.charAt(PREFIX.length())));
        return name.substring(word ? PREFIX.length() - "Delay".length() : PREFIX.length());
    }

    /** 0 if two are the same or one is made of the other's initials, 1 if they have nothing in common. A common word counts much. */
    private static double distance(String name, String known) {
        List<String> words = words(known);
        String initials = words.stream().map(word -> word.substring(0, 1)).reduce("", String::concat);
        if (words.size() > 1 && name.equalsIgnoreCase(initials)) {
            return 0;
        }
        double edits = (double) edits(name.toLowerCase(Locale.ROOT), known.toLowerCase(Locale.ROOT))
                / Math.max(name.length(), known.length());
        return words(name).stream().anyMatch(words::contains) ? edits / 2 : edits;
    }

    private static List<String> words(String name) {
        return List.of(name.split("(?<=.)(?=\\p{Lu})"));
    }

    /** How many letters to insert, remove or change to make one of the other (Levenshtein). */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int changed = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
