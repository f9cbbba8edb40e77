// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.testkit.RandomTests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ExtendedStartupListener;
import org.apache.camel.ServiceStatus;
import org.apache.camel.support.service.BaseService;
import org.apache.camel.support.service.ServiceHelper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is done to a consumer, in whatever order: it receives exactly while it is started, and keeps nothing open. */
class ConsumerLifecycleIT extends ConsumerSideIT {

    /** A client of its own: that of the component's settings stays open while the component does. */
    private static final String OWN_CLIENT = "?requestTimeout=7s";

    private final CountDownLatch go = new CountDownLatch(1);

    private int clients() {
        return context.getComponent("redis-delay", RedisDelayComponent.class)
                .clients()
                .size();
    }

    private void assertClients(int expected) {
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(clients()).as("open clients").isEqualTo(expected));
    }

    @Test
    void should_receive_again_after_a_stop_of_its_route_was_aborted() throws Exception {
        start(consume(OWN_CLIENT, exchange -> {
            take(exchange);
            go.await(20, TimeUnit.SECONDS);
        }));
        schedule("slow", "slow");
        next();
        assertThat(context.getRouteController().stopRoute("consumer", 200, TimeUnit.MILLISECONDS, true))
                .isFalse();
        assertThat(context.getRouteController().getRouteStatus("consumer")).isEqualTo(ServiceStatus.Started);
        go.countDown();
        for (int i = 0; i < 3; i++) {
            schedule("m" + i, "m" + i);
            assertThat(next().getBody()).isEqualTo("m" + i);
        }
        assertEmpty();
        // It tells that it is there beside its claims.
        await().untilAsserted(
                        () -> assertThat(stats().consumers()).as("consumers").isOne());
        context.getRouteController().stopRoute("consumer");
        assertClients(0);
    }

    @Test
    void should_receive_when_it_is_suspended_and_started() throws Exception {
        start(consume(OWN_CLIENT, this::take));
        RedisDelayConsumer consumer = consumer();
        ServiceHelper.suspendService(consumer);
        schedule("x", "x");
        consumer.start();
        assertThat(next().getBody()).isEqualTo("x");
        consumer.stop();
        assertClients(0);
        assertEmpty();
    }

    @Test
    void should_stay_suspended_when_that_was_done_while_the_context_started() throws Exception {
        context.addStartupListener(new ExtendedStartupListener() {
            @Override
            public void onCamelContextStarted(CamelContext starting, boolean alreadyStarted) {}

            @Override
            public void onCamelContextFullyStarted(CamelContext starting, boolean alreadyStarted) {
                consumer().suspend();
            }
        });
        schedule("x", "x");
        start(consume(OWN_CLIENT, this::take));
        assertThat(stored().admin().consumers().join()).as("it has not begun").isEmpty();
        await().during(Duration.ofMillis(200)).atMost(Duration.ofSeconds(5)).until(received::isEmpty);
        consumer().start();
        assertThat(next().getBody()).isEqualTo("x");
        context.getRouteController().stopRoute("consumer");
        assertClients(0);
    }

    @Test
    void should_receive_when_it_was_suspended_before_the_context_told_it_of_the_start_and_resumed_after()
            throws Exception {
        context.addStartupListener(new ExtendedStartupListener() {
            @Override
            public void onCamelContextStarted(CamelContext starting, boolean alreadyStarted) throws Exception {
                starting.addStartupListener(
                        new ExtendedStartupListener() { // behind the consumer's own
                            @Override
                            public void onCamelContextStarted(CamelContext starting, boolean alreadyStarted) {}

                            @Override
                            public void onCamelContextFullyStarted(CamelContext starting, boolean alreadyStarted) {
                                consumer().resume();
                            }
                        });
            }

            @Override
            public void onCamelContextFullyStarted(CamelContext starting, boolean alreadyStarted) {
                consumer().suspend();
            }
        });
        schedule("x", "x");
        start(consume(OWN_CLIENT, this::take));
        assertThat(next().getBody()).isEqualTo("x");
        context.getRouteController().stopRoute("consumer");
        assertClients(0);
    }

    @Test
    void should_receive_once_when_it_is_suspended_and_started_while_the_context_starts() throws Exception {
        context.addStartupListener(new ExtendedStartupListener() {
            @Override
            public void onCamelContextStarted(CamelContext starting, boolean alreadyStarted) {}

            @Override
            public void onCamelContextFullyStarted(CamelContext starting, boolean alreadyStarted) {
                consumer().suspend();
                consumer().start();
                consumer().suspend();
                consumer().resume();
            }
        });
        schedule("x", "x");
        start(consume(OWN_CLIENT, this::take));
        assertThat(next().getBody()).isEqualTo("x");
        // It tells that it is there beside its claims.
        await().untilAsserted(
                        () -> assertThat(stats().consumers()).as("consumers").isOne());
        context.getRouteController().stopRoute("consumer");
        assertClients(0);
    }

    @Test
    void should_open_one_client_for_polls_however_often_it_is_started() throws Exception {
        context.start();
        RedisDelayPollingConsumer polls = (RedisDelayPollingConsumer)
                context.getEndpoint(uri + OWN_CLIENT).createPollingConsumer();
        for (int i = 0; i < 2; i++) {
            polls.start();
            polls.suspend();
            polls.start();
            schedule("m" + i, "m" + i);
            Exchange exchange = polls.receive(20_000);
            assertThat(exchange.getMessage().getBody()).isEqualTo("m" + i);
            exchange.getExchangeExtension().handoverCompletions().forEach(done -> done.onComplete(exchange));
            assertClients(1);
            polls.stop();
            assertClients(0);
        }
        polls.suspend();
        polls.resume();
        assertClients(1);
        polls.stop();
        assertClients(0);
        assertEmpty();
    }

    /** The orders that a service can be given. */
    private enum Order {
        INIT {
            @Override
            void give(BaseService service) {
                service.init();
            }
        },
        START {
            @Override
            void give(BaseService service) {
                service.start();
            }
        },
        SUSPEND {
            @Override
            void give(BaseService service) {
                service.suspend();
            }
        },
        RESUME {
            @Override
            void give(BaseService service) {
                service.resume();
            }
        },
        STOP {
            @Override
            void give(BaseService service) {
                service.stop();
            }
        },
        SHUTDOWN {
            @Override
            void give(BaseService service) {
                service.shutdown();
            }
        };

        abstract void give(BaseService service);
    }

    /** The state of a service that does all that Camel's orders say. */
    private static final class Model {
        private boolean started;
        private boolean suspended;
        private boolean open;

        void take(Order order) {
            switch (order) {
                case INIT -> {}
                case START -> begin();
                case RESUME -> {
                    if (suspended) {
                        begin();
                    }
                }
                case SUSPEND -> {
                    started = false;
                    suspended = true;
                }
                case STOP, SHUTDOWN -> {
                    started = false;
                    suspended = false;
                    open = false;
                }
            }
        }

        private void begin() {
            started = true;
            suspended = false;
            open = true;
        }
    }

    static LongStream seeds() {
        return LongStream.concat(LongStream.of(1, 2, 3), new Random(RandomTests.seed("seed")).longs(2));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void should_do_what_it_is_told_in_any_order(long seed) throws Exception {
        Random random = new Random(seed);
        context.start();
        RedisDelayConsumer consumer =
                (RedisDelayConsumer) context.getEndpoint(uri + OWN_CLIENT).createConsumer(this::take);
        Model model = new Model();
        List<Order> given = new ArrayList<>();
        List<Object> waiting = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            Order order = Order.values()[random.nextInt(Order.values().length)];
            given.add(order);
            order.give(consumer);
            model.take(order);
            assertThat(consumer.isStarted()).as("%s", given).isEqualTo(model.started);
            assertClients(model.open ? 1 : 0);
            schedule("m" + i, "m" + i);
            waiting.add("m" + i);
            if (model.started) {
                assertReceived(given, waiting);
            } else {
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        .during(Duration.ofMillis(20))
                        .atMost(Duration.ofSeconds(5))
                        .until(received::isEmpty);
            }
        }
        given.add(Order.START);
        consumer.start();
        assertReceived(given, waiting);
        consumer.shutdown();
        assertThat(received).as("twice").isEmpty();
        assertClients(0);
        assertEmpty();
    }

    private void assertReceived(List<Order> given, List<Object> waiting) throws InterruptedException {
        while (!waiting.isEmpty()) {
            var message = received.poll(20, TimeUnit.SECONDS);
            assertThat(message).as("a message after %s", given).isNotNull();
            assertThat(waiting.remove(message.getBody())).isTrue();
        }
    }
}
