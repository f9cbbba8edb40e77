// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.example.ExampleSettings.Role;
import io.github.redisdelay.queue.QueueStats;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.apache.camel.main.SimpleMainShutdownStrategy;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running example: Redis, the database and the routes, started in this order and stopped in reverse.
 *
 * <p>Closing it lets Camel finish what is under way and acknowledge it before Redis is stopped, so nothing is lost and
 * nothing is delivered twice.
 */
final class OrderShop implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Story.SHOP);

    private static final int REPLAY_BATCHES = 60;

    /** Of what partner and bank do. Another one tells another story. */
    static final long SEED = 4;

    private final ExampleSettings settings;
    private final Deque<AutoCloseable> running = new ArrayDeque<>();
    private OrderBook book;
    private WaitingMessages waiting;
    private RedisDelayConsole console;

    private OrderShop(ExampleSettings settings) {
        this.settings = settings;
    }

    /**
     * Starts everything.
     *
     * @param replayTime how long it takes until all orders of the data set have arrived
     * @throws ExampleException if something outside is not as it has to be; nothing is left running
     */
    static OrderShop start(ExampleSettings settings, DataSet dataSet, Duration replayTime) {
        OrderShop shop = new OrderShop(settings);
        try {
            shop.startAll(dataSet, replayTime);
            return shop;
        } catch (Exception e) {
            shop.closeAfter(e);
            if (e instanceof ExampleException known) {
                throw known;
            }
            throw new IllegalStateException("The example did not start: " + e.getMessage(), e);
        }
    }

    private void startAll(DataSet dataSet, Duration replayTime) throws Exception {
        Path folder = settings.dataFolder();
        String address;
        ShopDatabase database;
        if (settings.role() == Role.CONSUMER) {
            Shared shared = Shared.read(folder);
            address = shared.redis();
            database = opened(ShopDatabase.connect(shared.database()));
        } else {
            opened(DataFolderLock.of(folder));
            Shared.forget(folder);
            checkFree(ExampleSettings.HTTP_PORT, settings.httpPort(), 8081);
            checkFree(ExampleSettings.CONSOLE_PORT, settings.consolePort(), 8401);
            address = settings.redisAddress().orElseGet(() -> opened(EmbeddedRedis.start(folder.resolve("redis")))
                    .address());
            database = opened(ShopDatabase.open(folder));
        }
        RedissonClient redisson = connect(address);
        opened(redisson::shutdown);
        Clock clock = Clock.systemUTC();
        book = new OrderBook(database.dataSource(), clock);
        waiting = opened(new WaitingMessages(redisson));
        LOG.info("Redis is {}, files are in {}", withoutPassword(address), folder);
        sayWhatIsLeft();

        Main main = new Main();
        // The starter of the shop stops it; Camel's own hook would race with it at a Ctrl-C.
        main.setShutdownStrategy(new SimpleMainShutdownStrategy());
        ShopTime time = settings.time();
        main.addInitialProperty("inbox", settings.inbox().toString());
        main.addInitialProperty("http.port", String.valueOf(settings.httpPort()));
        main.addInitialProperty("replay.period", String.valueOf(replayTime.toMillis() / REPLAY_BATCHES));
        main.addInitialProperty("consume", String.valueOf(settings.role() != Role.PRODUCER));
        main.bind("redisson", redisson); // The components find them there.
        main.bind("stories", database.dataSource());
        routes(database, dataSet, clock).forEach(main.configure()::addRoutesBuilder);
        opened(() -> stop(main));
        main.start();
        LOG.info("In the shop, {}", time);
        if (settings.role() == Role.CONSUMER) {
            LOG.info("This process consumes. Start another consumer, or stop this one: the others carry on");
            return;
        }
        for (String id : book.unfinishedPayments()) {
            main.getCamelTemplate().requestBodyAndHeader("direct:payment", null, "id", id);
        }
        // Whoever sits at this machine may change what waits: it is only a shop.
        console = opened(RedisDelayConsole.on(main.getCamelContext())
                .port(settings.consolePort())
                .environment("EXAMPLE")
                .actions(true)
                .start());
        LOG.info("Open for orders on http://localhost:{}/orders and in {}", settings.httpPort(), settings.inbox());
        LOG.info(
                "See what waits, and change it, in a browser: {} (all is over soon: {}=60 leaves time to look)",
                console.url(),
                ExampleSettings.SPEED);
        if (settings.role() == Role.PRODUCER) {
            opened(Shared.publish(folder, address, database.share()));
            LOG.info("This process only produces: start a consumer beside it");
        }
    }

    private List<RouteBuilder> routes(ShopDatabase database, DataSet dataSet, Clock clock) {
        ShopTime time = settings.time();
        Lateness lateness = new Lateness();
        Replay replay = new Replay(dataSet, book, REPLAY_BATCHES);
        List<RouteBuilder> routes = new ArrayList<>();
        // The routes that others call come first: Camel stops routes in the reverse order.
        if (settings.role() != Role.CONSUMER) {
            routes.add(new PartnerRoutes(new PartnerMood(SEED), time.real("1h")));
            routes.add(new BankRoutes(new Bank(SEED, time), clock));
            routes.add(new OrderRoutes(book, time));
            routes.add(new PaymentRoutes(new PaymentDesk(book)));
        }
        if (settings.role() != Role.PRODUCER) {
            routes.add(new ClosingRoute(book, lateness));
        }
        // Their consumers have autoStartup={{consume}}.
        routes.add(new NotificationRoutes(
                time.realSteps(NotificationRoutes.STEPS), new RetryAfter(time.real("15h"), clock)));
        routes.add(new RefundRoutes(time.realSteps(RefundRoutes.STEPS)));
        routes.add(new ReminderRoutes(time, clock));
        if (settings.role() != Role.CONSUMER) {
            routes.add(new HttpRoutes(book));
            routes.add(new CustomerRoutes(replay, book, time));
            routes.add(new OrganiserRoutes(dataSet.programme(), time, clock));
        }
        routes.add(new Summary(book, lateness, waiting, database, replay));
        return routes;
    }

    /** Looks whether a port is free, before anything is started: Camel's own error comes late and says less. */
    private static void checkFree(String variable, int port, int other) {
        try {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        } catch (IOException e) {
            throw new ExampleException(
                    "Port " + port + " is taken by another program. Choose another: " + variable + "="
                            + (port == other ? other + 1 : other),
                    e);
        }
    }

    /** The address of the console. */
    String consoleUrl() {
        return console.url();
    }

    /** The number of messages of these queues that are still to come. */
    long waiting(String... queues) {
        return waiting.in(queues);
    }

    long deadLetters(String queue) {
        return waiting.of(queue).dead();
    }

    private void sayWhatIsLeft() {
        OrderBook.Counts counts = book.counts();
        if (counts.all() == 0 || settings.role() == Role.CONSUMER) {
            return;
        }
        LOG.info(
                "carried on: {} waiting from last time ({} paid, {} closed)",
                Story.count(waiting.in("orders"), "order", "orders"),
                counts.paid(),
                counts.closed());
        QueueStats orders = waiting.of("orders");
        if (orders.overdue() > 0) {
            LOG.info(
                    "The clock went on while the example was down: {} to be closed meanwhile, the first {} ago. That"
                            + " happens now. Customers who meant to pay meanwhile come now",
                    Story.count(orders.overdue(), "order was", "orders were"),
                    settings.time().inShop(Duration.of(orders.oldestOverdueMicros(), ChronoUnit.MICROS)));
        }
    }

    private void stop(Main main) {
        boolean served = main.isStarted();
        main.stop();
        if (served) {
            LOG.info(
                    "Camel has finished what was under way; {} waiting in Redis",
                    Story.count(waiting.in("orders"), "order is", "orders are"));
        }
    }

    private RedissonClient connect(String address) {
        try {
            Config config = new Config();
            config.useSingleServer().setAddress(address);
            return Redisson.create(config);
        } catch (RuntimeException e) {
            Throwable reason = e;
            while (reason.getCause() != null) {
                reason = reason.getCause();
            }
            String what = settings.role() == Role.CONSUMER
                    ? "No producer runs on " + settings.dataFolder() + ": start it first. Its Redis was "
                    : ExampleSettings.REDIS_ADDRESS + "=";
            throw new ExampleException(what + withoutPassword(address) + ": " + reason.getMessage(), e);
        }
    }

    private static String withoutPassword(String address) {
        return address.replaceFirst("//.*@", "//***@");
    }

    /** Makes sure that it is closed, before all that were opened earlier. */
    private <T extends AutoCloseable> T opened(T part) {
        running.push(part);
        return part;
    }

    private void closeAfter(Exception failure) {
        try {
            close();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** Stops everything, and each part even if stopping another one failed. */
    @Override
    public void close() {
        RuntimeException failure = null;
        while (!running.isEmpty()) {
            AutoCloseable part = running.pop();
            try {
                part.close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = new IllegalStateException("Not everything could be stopped", e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
