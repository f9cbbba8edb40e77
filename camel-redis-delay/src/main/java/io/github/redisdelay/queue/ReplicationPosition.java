// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where something is in the history of a master, as {@code INFO replication} tells it.
 *
 * <p>A master's history has an id, and each byte of it an offset. A replica that is promoted goes on with a history of its own
 * and remembers the id of the one before, and up to where it shares it: so a later master can say whether it has what an
 * earlier one had executed. It remembers one id only.
 *
 * @param id the id of the history
 * @param offset the offset behind it
 */
record ReplicationPosition(String id, long offset) {

    /**
     * Between which places of a history something was executed.
     *
     * @param before where the history ended at some time before it; null if that is not known
     * @param behind where it ended at some time after it
     */
    record Span(ReplicationPosition before, ReplicationPosition behind) {}

    /**
     * What a master has.
     *
     * @param end where it is now
     * @param before the history that it shares, and up to where; null if there is none
     */
    record History(ReplicationPosition end, ReplicationPosition before) {

        /** Whether what was executed there is certainly part of it. */
        boolean contains(Span span) {
            return end.reaches(span.behind) || (before != null && before.reaches(span.behind));
        }

        /**
         * Whether what was executed there is certainly no part of it: it shares that history, and only up to a place before it.
         * What lies in between is neither contained nor excluded.
         */
        boolean excludes(Span span) {
            // With a failover between the two places, the first one says nothing of what was executed behind it. Nor do
            // two that are the same: what is executed moves the end, unless the master keeps no history.
            return span.before != null
                    && span.before.id.equals(span.behind.id)
                    && span.before.offset < span.behind.offset
                    && before != null
                    && span.before.reaches(before);
        }
    }

    private boolean reaches(ReplicationPosition other) {
        return id.equals(other.id) && offset >= other.offset;
    }

    /** Reads {@code INFO replication}; null if that is not what the text is, or Redis may not be asked for it. */
    static History history(String info) {
        String id = field(info, "master_replid");
        String offset = field(info, "master_repl_offset");
        if (id == null || offset == null) {
            return null;
        }
        ReplicationPosition end = new ReplicationPosition(id, Long.parseLong(offset));
        String before = field(info, "master_replid2");
        String shared = field(info, "second_repl_offset");
        // The first offset that is not shared any more; -1 if there was no history before this one.
        long first = shared == null ? -1 : Long.parseLong(shared);
        return new History(end, before == null || first < 0 ? null : new ReplicationPosition(before, first - 1));
    }

    private static String field(String info, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + ":([^\\r\\n]*)").matcher(info);
        return matcher.find() ? matcher.group(1).trim() : null;
    }
}
