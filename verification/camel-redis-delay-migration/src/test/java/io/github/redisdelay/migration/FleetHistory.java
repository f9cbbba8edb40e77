// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Finish;
import io.github.redisdelay.migration.Fleet.Member;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleOutcome;
import io.github.redisdelay.queue.SettleResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The records of all processes of a fleet as one history, whose messages have their texts for ids: whoever delivers a
 * text that another one has finished delivers it twice.
 */
final class FleetHistory {

    private final List<Event> events = new ArrayList<>();
    /** The texts of messages with other ids. */
    private final Map<String, String> texts = new HashMap<>();
    /** Of those messages: a text, and when it was due first. */
    private final Map<String, String> origins = new HashMap<>();

    /** The names of the old processes. */
    private final Set<String> old = new HashSet<>();

    /** @param test says who was killed */
    FleetHistory(History test, Collection<Member> oldMembers, Collection<Member> camel) {
        events.addAll(test.events());
        for (Member member : oldMembers) {
            old.add(member.name());
            List<String> lines = member.read();
            for (int i = 0; i < lines.size(); i++) {
                add(member.name(), lines.get(i).split(" "), member.name() + "/" + i);
            }
        }
        for (Member member : camel) {
            events.addAll(member.history());
            for (String line : member.names()) {
                String[] words = line.split(" ");
                texts.put(words[0], words[1]);
                origins.put(words[0], words[1] + " " + words[2]);
            }
        }
    }

    private void add(String source, String[] words, String claim) {
        long micros = Long.parseLong(words[1]);
        String text = words[2];
        switch (OldQueueProcess.Line.valueOf(words[0])) {
            case OFFERING -> {
                long due = Long.parseLong(words[3]) * 1000;
                events.add(new Event(micros, source, What.SCHEDULING, text, "", due, 0, 0, "", ""));
            }
            case OFFERED -> {
                String detail = ScheduleOutcome.SCHEDULED.name();
                events.add(new Event(micros, source, What.SCHEDULED, text, "", micros, 0, 0, "", detail));
            }
            case TAKEN -> {
                // Finished as it is taken.
                String reason = RedeliveryReason.NONE.name();
                events.add(new Event(micros, source, What.DELIVERED, text, claim, micros, micros, 1, reason, ""));
                events.add(finish(micros, source, What.SETTLING, text, claim, Finish.ACKNOWLEDGE.name()));
                events.add(finish(micros, source, What.SETTLED, text, claim, SettleResult.DONE.name()));
            }
        }
    }

    private static Event finish(long micros, String source, What what, String text, String claim, String detail) {
        return new Event(micros, source, what, text, claim, 0, 0, 0, "", detail);
    }

    /** How many messages were taken over. */
    int imported() {
        return texts.size();
    }

    /** The texts that old consumers have taken. */
    Stream<String> takenByOld() {
        return events.stream()
                .filter(event -> event.what() == What.DELIVERED && old.contains(event.source()))
                .map(Event::id);
    }

    /** The texts that were taken over more than once though they were due at one time. */
    Set<String> importedTwice() {
        Set<String> seen = new HashSet<>();
        Set<String> twice = new HashSet<>();
        origins.values().stream().filter(origin -> !seen.add(origin)).forEach(twice::add);
        return twice;
    }

    /** How many more messages than texts were delivered, by whomever. */
    long copies() {
        List<String> delivered =
                Stream.concat(takenByOld(), texts.values().stream()).toList();
        return delivered.size() - new HashSet<>(delivered).size();
    }

    /** The history. */
    List<Event> events() {
        return events.stream()
                .map(event -> withId(event, texts.getOrDefault(event.id(), event.id())))
                .toList();
    }

    /**
     * The history where transfers of Redisson's have failed after they had handed over something: what it handed over
     * more than once are messages that it has offered itself, each due when it can have been due first.
     */
    List<Event> eventsWithCopies() {
        Map<String, List<String>> copies = new HashMap<>();
        List<Event> all = new ArrayList<>();
        for (Event event : events) {
            String text = texts.getOrDefault(event.id(), event.id());
            // A message here is a copy by its id, and what an old consumer has taken is one by itself.
            String copy =
                    texts.containsKey(event.id()) ? event.id() : old.contains(event.source()) ? event.claim() : "";
            List<String> known = copies.computeIfAbsent(text, any -> new ArrayList<>());
            if (!copy.isEmpty() && !known.contains(copy)) {
                known.add(copy);
            }
            all.add(withId(event, named(text, known.indexOf(copy))));
        }
        for (Event event : events) {
            if (event.what() == What.SCHEDULING || event.what() == What.SCHEDULED) {
                for (int i = 1; i < copies.get(event.id()).size(); i++) {
                    all.add(withId(event, named(event.id(), i)));
                }
            }
        }
        return all;
    }

    private static String named(String text, int copy) {
        return copy <= 0 ? text : text + " again " + copy;
    }

    private static Event withId(Event event, String id) {
        return new Event(
                event.micros(),
                event.source(),
                event.what(),
                id,
                event.claim(),
                event.due(),
                event.claimed(),
                event.attempt(),
                event.reason(),
                event.detail());
    }
}
