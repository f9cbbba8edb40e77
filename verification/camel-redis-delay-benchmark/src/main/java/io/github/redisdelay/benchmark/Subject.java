// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

/** The names of what is compared, as they stand in {@code raw.csv}. */
public final class Subject {

    /** A route on each side. */
    public static final String CAMEL = "camel";

    /** The queue layer without Camel. */
    public static final String QUEUE = "queue";

    /** {@code RDelayedQueue} of Redisson. */
    public static final String RDELAYEDQUEUE = "rdelayedqueue";

    /** Bare scripts: the least that Redis can be asked to do for the layout. */
    public static final String FLOOR = "floor";

    /** {@link #FLOOR}, and for each delivery a state record by which only who claimed it can acknowledge it. */
    public static final String FENCED_FLOOR = "fenced floor";

    /** {@link #FENCED_FLOOR}, with attempts counted and repeats of lost calls answered. */
    public static final String SAFE = "safe scripts";

    /** Requests of waiting callers, put together into bare scripts. */
    public static final String BARE_CLIENT = "bare client";

    /** {@link #BARE_CLIENT} behind a route. */
    public static final String BARE_CLIENT_THROUGH_CAMEL = "bare client through camel";

    /** The same with a script that stores each message once, however often its call is sent. */
    public static final String SAFE_CLIENT_THROUGH_CAMEL = "safe client through camel";

    /** BullMQ, a queue for Node on the same Redis. */
    public static final String BULLMQ = "bullmq";

    /** beanstalkd, a server in C that keeps its messages itself. */
    public static final String BEANSTALKD = "beanstalkd";

    /** What a subject of the other commit has behind its name, where two commits are compared. */
    public static final String OF_OTHER = " before";

    private Subject() {}
}
