// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.camel.main.Main;
import org.apache.camel.main.SimpleMainShutdownStrategy;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running example: Redis, the order book and the routes, started in this order and stopped in reverse.
 *
 * <p>Closing it lets Camel finish what is under way and acknowledge it before Redis is stopped, so nothing is lost and
 * nothing is delivered twice.
 */
final class OrderShop implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(OrderRoutes.STORY);

    private static final int REPLAY_BATCHES = 60;

    private final ExampleSettings settings;
    private final Deque<AutoCloseable> running = new ArrayDeque<>();
    private OrderBook book;
    private PendingClosings pending;

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
        opened(DataFolderLock.of(folder));
        HttpPort.check(settings.httpPort());
        String address = settings.redisAddress().orElseGet(() -> opened(EmbeddedRedis.start(folder.resolve("redis")))
                .address());
        RedissonClient redisson = connect(address);
        opened(redisson::shutdown);
        book = opened(OrderBook.open(folder.resolve("order-book.txt"), Clock.systemUTC()));
        pending = opened(new PendingClosings(redisson));
        LOG.info("Redis is {}, files are in {}", withoutPassword(address), folder);
        sayWhatIsLeft();

        Main main = new Main();
        // Who starts the shop stops it; Camel's own hook would race with it at a Ctrl-C.
        main.setShutdownStrategy(new SimpleMainShutdownStrategy());
        main.addInitialProperty("inbox", settings.inbox().toString());
        main.addInitialProperty("http.port", String.valueOf(settings.httpPort()));
        main.addInitialProperty("replay.period", String.valueOf(replayTime.toMillis() / REPLAY_BATCHES));
        main.bind("redisson", redisson); // The component finds it there.
        Lateness lateness = new Lateness();
        main.configure().addRoutesBuilder(new OrderRoutes(book));
        main.configure().addRoutesBuilder(new PaymentRoutes(new PaymentDesk(book)));
        main.configure().addRoutesBuilder(new ClosingRoute(book, lateness));
        main.configure().addRoutesBuilder(new HttpRoutes(book));
        Replay replay = new Replay(dataSet, book, REPLAY_BATCHES);
        main.configure().addRoutesBuilder(new CustomerRoutes(replay));
        main.configure().addRoutesBuilder(new SummaryRoute(new Summary(book, lateness, pending, replay)));
        opened(() -> stop(main));
        main.start();
        for (String id : book.unfinishedPayments()) {
            main.getCamelTemplate().requestBodyAndHeader("direct:payment", null, "id", id);
        }
        LOG.info("Open for orders on http://localhost:{}/orders and in {}", settings.httpPort(), settings.inbox());
    }

    private void sayWhatIsLeft() {
        OrderBook.Counts counts = book.counts();
        if (counts.all() > 0) {
            LOG.info(
                    "carried on: {} orders waiting from last time ({} were paid, {} closed)",
                    pending.count(),
                    counts.paid(),
                    counts.closed());
        }
    }

    private void stop(Main main) {
        boolean served = main.isStarted();
        main.stop();
        if (served) {
            LOG.info("Camel has finished what was under way; {} orders are waiting in Redis", pending.count());
        }
    }

    private static RedissonClient connect(String address) {
        try {
            Config config = new Config();
            config.useSingleServer().setAddress(address);
            return Redisson.create(config);
        } catch (RuntimeException e) {
            Throwable reason = e;
            while (reason.getCause() != null) {
                reason = reason.getCause();
            }
            throw new ExampleException(
                    ExampleSettings.REDIS_ADDRESS + "=" + withoutPassword(address) + ": " + reason.getMessage(), e);
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
