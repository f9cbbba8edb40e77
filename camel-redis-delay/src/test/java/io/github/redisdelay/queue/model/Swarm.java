// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * How often each kind of a random event comes in a run. The rates are drawn for each run, and some are 0: what an event that is
 * always there would hide is found by runs without it (Groce et al., Swarm Testing, ISSTA 2012).
 */
public final class Swarm<K extends Enum<K>> {

    private final Random random;
    private final Map<K, Double> rates;
    private final double sum;

    private Swarm(Random random, Class<K> kinds, ToDoubleFunction<K> rate) {
        this.random = random;
        this.rates = new EnumMap<>(kinds);
        for (K kind : kinds.getEnumConstants()) {
            rates.put(kind, rate.applyAsDouble(kind));
        }
        this.sum = rates.values().stream().mapToDouble(each -> each).sum();
    }

    /** A third of the rates are 0. @param rate draws one of the others */
    public static <K extends Enum<K>> Swarm<K> some(Random random, Class<K> kinds, ToDoubleFunction<K> rate) {
        return some(random, kinds, 3, rate);
    }

    /** As {@link #some}. @param off one of so many rates is 0 */
    public static <K extends Enum<K>> Swarm<K> some(Random random, Class<K> kinds, int off, ToDoubleFunction<K> rate) {
        return new Swarm<>(random, kinds, kind -> random.nextInt(off) == 0 ? 0 : rate.applyAsDouble(kind));
    }

    /** As {@link #some}, with rates up to twice the usual ones. */
    public static <K extends Enum<K>> Swarm<K> around(Random random, Class<K> kinds, ToDoubleFunction<K> usual) {
        return some(random, kinds, kind -> 2 * usual.applyAsDouble(kind) * random.nextDouble());
    }

    /** Nothing ever happens. */
    public static <K extends Enum<K>> Swarm<K> none(Class<K> kinds) {
        return new Swarm<>(new Random(0), kinds, kind -> 0);
    }

    /** For rates that are probabilities. */
    public boolean happens(K kind) {
        double rate = rates.get(kind);
        return rate > 0 && random.nextDouble() < rate;
    }

    /** One kind by their rates, which may have any sum. @param otherwise if all are 0 */
    public K any(K otherwise) {
        double left = sum * random.nextDouble();
        for (Map.Entry<K, Double> entry : rates.entrySet()) {
            left -= entry.getValue();
            if (left < 0) {
                return entry.getKey();
            }
        }
        return otherwise;
    }

    @Override
    public String toString() {
        return rates.toString();
    }
}
