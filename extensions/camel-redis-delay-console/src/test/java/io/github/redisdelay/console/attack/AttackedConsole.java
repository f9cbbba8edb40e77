// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.attack.Attack.Target;
import io.github.redisdelay.console.attack.RawHttp.Answer;
import io.github.redisdelay.queue.DelayQueue;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Attacks a console by one of its servers, and looks into Redis for what that has changed. */
public final class AttackedConsole {

    private final InetSocketAddress server;
    private final Target target;
    private final DelayQueue queue;

    /**
     * @param base the path of the console, without a slash at its end
     * @param queue a queue that the console shows
     */
    public AttackedConsole(InetSocketAddress server, String base, DelayQueue queue) {
        this.server = server;
        this.target = new Target("127.0.0.1", server.getPort(), base, queue.name());
        this.queue = queue;
    }

    /** Asserts that requests in order are answered: otherwise the refusals would mean nothing. */
    public void assertAnswersWhatIsInOrder() throws Exception {
        assertThat(send(target.look()).status()).as("looking").isEqualTo(200);
        assertThat(isPaused()).isFalse();
        assertThat(send(target.pause()).status()).as("changing").isEqualTo(200);
        assertThat(isPaused()).as("changed").isTrue();
        assertThat(send(target.resume()).status()).as("changing back").isEqualTo(200);
        assertThat(isPaused()).as("changed back").isFalse();
    }

    /** Asserts that each attack is refused, gives nothing away, and changes nothing in Redis. */
    public void assertRefusesAllAttacks() throws Exception {
        List<String> wrong = new ArrayList<>();
        List<Attack> attacks = Attack.on(target);
        assertThat(attacks).hasSizeGreaterThan(150);
        for (Attack attack : attacks) {
            Answer answer = send(attack.request());
            String head = answer.head().toLowerCase(Locale.ROOT);
            if (!attack.statuses().contains(answer.status())) {
                wrong.add(attack + ": " + answer.status() + " " + answer.body());
            }
            // A header's name: Spring's own 404 has the word in a value of Vary.
            if (head.contains("\naccess-control-")
                    || head.contains("\nset-cookie")
                    || answer.body().contains("\"version\"")) {
                wrong.add(attack + " gives away: " + answer);
            }
            if (isPaused()) {
                wrong.add(attack + " has changed the queue");
                queue.admin().resume().result().get(10, TimeUnit.SECONDS);
            }
        }
        assertThat(wrong).as("attacks that were not refused").isEmpty();
        assertAnswersWhatIsInOrder();
    }

    private boolean isPaused() throws Exception {
        return queue.admin().stats().get(10, TimeUnit.SECONDS).paused();
    }

    private Answer send(byte[] request) throws IOException {
        return RawHttp.send(server, request);
    }
}
