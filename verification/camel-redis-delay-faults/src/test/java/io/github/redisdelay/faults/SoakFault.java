// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.testkit.FaultyProxy;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** The faults of a soak: of its nodes, of their connections and of their server. */
enum SoakFault {
    RESET(0) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(FaultyProxy::reset);
        }
    },
    CHILD_KILLED(0) {
        @Override
        void begin(SoakBench bench) throws Exception {
            bench.killChild();
        }
    },
    SERVER_KILLED(0) {
        @Override
        void begin(SoakBench bench) {
            bench.server.kill();
            bench.server.start();
        }
    },
    CUT(1) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(FaultyProxy::cut);
        }
    },
    SERVER_RESTARTED(0) {
        @Override
        void begin(SoakBench bench) {
            bench.server.stop();
            bench.server.start();
        }
    },
    ANSWERS_LOST(2) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(proxy -> proxy.loseAnswers("EVALSHA", 5));
        }
    },
    CLOSED(0) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(FaultyProxy::closeConnections);
        }
    },
    CUT_FOR_LONGER_THAN_THE_LEASE(5) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(FaultyProxy::cut);
        }
    },
    STALLED_FOR_LONGER_THAN_THE_LEASE(5) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(FaultyProxy::stall);
        }
    },
    SLOW_BY_500_MS(3) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(proxy -> proxy.delay(Duration.ofMillis(250)));
        }
    },
    ONLY_50_KB_PER_SECOND(3) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(proxy -> proxy.limit(50_000));
        }
    },
    HALF_OPEN(2) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(proxy -> proxy.swallow(Kind.COMMANDS, Kind.SUBSCRIPTION));
        }

        @Override
        Duration tail() {
            return Duration.ofSeconds(45);
        }
    },
    SUBSCRIPTIONS_LOST(0) {
        @Override
        void begin(SoakBench bench) {
            bench.someProxies().forEach(proxy -> proxy.swallow(Kind.SUBSCRIPTION));
        }
    },
    CLIENT_KILL_NORMAL(0) {
        @Override
        void begin(SoakBench bench) throws Exception {
            bench.kill("normal");
        }
    },
    CLIENT_KILL_PUBSUB(0) {
        @Override
        void begin(SoakBench bench) throws Exception {
            bench.kill("pubsub");
        }
    },
    CLIENT_PAUSE(2) {
        @Override
        void begin(SoakBench bench) throws Exception {
            bench.done("CLIENT PAUSE 2000");
        }
    },
    DEBUG_SLEEP(0) {
        @Override
        void begin(SoakBench bench) throws Exception {
            // Where the server may not be told so, it is as deaf to all clients in a pause.
            if (!bench.command("DEBUG SLEEP 4").startsWith("+")) {
                bench.done("CLIENT PAUSE 4000");
            }
        }
    },
    SCRIPT_FLUSH(0) {
        @Override
        void begin(SoakBench bench) throws Exception {
            bench.done("SCRIPT FLUSH");
        }
    },
    ROUTES_SUSPENDED(2) {
        private SoakNode node;

        @Override
        void begin(SoakBench bench) throws Exception {
            node = bench.someNode();
            node.suspend(true);
        }

        @Override
        void end(SoakBench bench) throws Exception {
            node.suspend(false);
        }
    };

    private static final int BRIEF_ONES = 4;

    /** They hit those nodes whose proxies they act on. */
    private static final Set<SoakFault> ON_CONNECTIONS = EnumSet.of(
            RESET,
            CUT,
            ANSWERS_LOST,
            CLOSED,
            CUT_FOR_LONGER_THAN_THE_LEASE,
            STALLED_FOR_LONGER_THAN_THE_LEASE,
            SLOW_BY_500_MS,
            ONLY_50_KB_PER_SECOND,
            HALF_OPEN);

    /** They do not come between a client and its leases. What a child that is killed loses, its death explains. */
    private static final Set<SoakFault> HARMLESS =
            EnumSet.of(CHILD_KILLED, SUBSCRIPTIONS_LOST, CLIENT_KILL_PUBSUB, SCRIPT_FLUSH, ROUTES_SUSPENDED);

    private final Duration duration;

    SoakFault(int seconds) {
        duration = Duration.ofSeconds(seconds);
    }

    /** Those for a run of half a minute: a few that take little time. */
    static List<SoakFault> brief() {
        return Stream.of(values()).limit(BRIEF_ONES).toList();
    }

    /** Writes down that it begins, and whom it hits. */
    void record(SoakBench bench) {
        List<String> chosen = bench.choose();
        if (HARMLESS.contains(this)) {
            bench.history.harmlessFaultBegins(text());
        } else {
            bench.history.faultBegins(text(), ON_CONNECTIONS.contains(this) ? chosen : List.of());
        }
    }

    abstract void begin(SoakBench bench) throws Exception;

    void end(SoakBench bench) throws Exception {
        bench.heal();
    }

    /** How long it lasts, beyond the time that it takes to begin. */
    Duration duration() {
        return duration;
    }

    /** For how long leases may still end because of it when it is over: until each dead connection was noticed. */
    Duration tail() {
        return Duration.ZERO;
    }

    /** As people read it. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
