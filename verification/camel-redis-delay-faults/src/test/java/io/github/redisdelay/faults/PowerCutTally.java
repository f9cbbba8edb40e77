// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.time.Duration;
import java.util.Locale;

/**
 * What power cuts have cost.
 *
 * @param confirmed how many changes were confirmed
 * @param lost how many of them were lost
 * @param oldestNanos how long before its cut the first of them was confirmed; it has no meaning if none was lost
 */
record PowerCutTally(int cuts, long confirmed, long lost, long oldestNanos) {

    static final PowerCutTally NONE = new PowerCutTally(0, 0, 0, Long.MIN_VALUE);

    PowerCutTally withLost(long ageNanos) {
        return new PowerCutTally(cuts, confirmed, lost + 1, Math.max(oldestNanos, ageNanos));
    }

    PowerCutTally plus(PowerCutTally other) {
        return new PowerCutTally(
                cuts + other.cuts,
                confirmed + other.confirmed,
                lost + other.lost,
                Math.max(oldestNanos, other.oldestNanos));
    }

    /** None if it was confirmed while the cut came. */
    Duration oldest() {
        return Duration.ofNanos(lost == 0 ? 0 : Math.max(0, oldestNanos));
    }

    /** As a cell of a table. */
    @Override
    public String toString() {
        String text = String.format(Locale.ROOT, "%,d of %,d", lost, confirmed).replace(',', ' ');
        return lost == 0 ? text : text + String.format(Locale.ROOT, " (%.1f s)", oldest().toMillis() / 1000.0);
    }
}
