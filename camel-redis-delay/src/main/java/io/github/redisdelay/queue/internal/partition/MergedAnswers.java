// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.partition;

import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ServerInfo;
import java.util.List;
import java.util.stream.IntStream;

/** The answers of two partitions as one. */
final class MergedAnswers {

    private MergedAnswers() {}

    static CheckResult of(CheckResult one, CheckResult other) {
        return new CheckResult(
                one.messages() + other.messages(),
                one.restored() + other.restored(),
                one.bodiesMissing() + other.bodiesMissing(),
                one.recordsDropped() + other.recordsDropped());
    }

    /** The figures of two partitions, both of which know the same consumers. */
    static QueueStats of(QueueStats one, QueueStats other) {
        return new QueueStats(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.delayed() + other.delayed(),
                one.overdue() + other.overdue(),
                one.leased() + other.leased(),
                one.dead() + other.dead(),
                Math.max(one.oldestOverdueMicros(), other.oldestOverdueMicros()),
                one.nextDueMicros() < 0 || other.nextDueMicros() < 0
                        ? Math.max(one.nextDueMicros(), other.nextDueMicros())
                        : Math.min(one.nextDueMicros(), other.nextDueMicros()),
                Math.max(one.consumers(), other.consumers()),
                // Paused if one is; since the first one.
                one.paused() && other.paused()
                        ? Math.min(one.pausedMicros(), other.pausedMicros())
                        : Math.max(one.pausedMicros(), other.pausedMicros()),
                Math.max(one.lastDueMicros(), other.lastDueMicros()),
                one.stored() + other.stored(),
                Math.max(one.lostMicros(), other.lostMicros()));
    }

    static Outlook of(Outlook one, Outlook other) {
        List<Long> counts = IntStream.range(0, one.counts().size())
                .mapToObj(i -> one.counts().get(i) + other.counts().get(i))
                .toList();
        return new Outlook(
                Math.max(one.timeMicros(), other.timeMicros()),
                one.boundsMicros(),
                counts,
                one.before() + other.before(),
                one.after() + other.after());
    }

    /** The worse of two servers in each respect; they may be the same server. */
    static ServerInfo of(ServerInfo one, ServerInfo other) {
        return new ServerInfo(
                one.product(),
                one.version().equals(other.version()) || one.version().endsWith(", " + other.version())
                        ? one.version()
                        : one.version() + ", " + other.version(),
                other.evicts() && !one.evicts() ? other.evictionPolicy() : one.evictionPolicy(),
                one.forgets() || other.forgets()
                        ? Boolean.FALSE
                        : one.appendOnly() == null ? null : other.appendOnly());
    }
}
