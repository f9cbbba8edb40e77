// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the example and stops it in an orderly way at a Ctrl-C or SIGTERM. */
public final class ExampleApplication {

    private static final Logger LOG = LoggerFactory.getLogger(Story.SHOP);

    private static final Duration REPLAY_TIME = Duration.ofSeconds(20);

    private ExampleApplication() {}

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        // The JVM ends when its hooks have returned, so this one waits; the work is done by the main thread.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stop.countDown();
                            awaitUninterruptibly(stopped);
                        },
                        "stop"));
        boolean failed = false;
        try {
            ExampleSettings settings = ExampleSettings.of(System.getenv(), System.getProperties(), args);
            LOG.info("The example starts, in a few seconds; its README says what you will see");
            DataSet dataSet = settings.replay() ? DataSet.shipped(settings.httpPort()) : DataSet.EMPTY;
            OrderShop shop = OrderShop.start(settings, dataSet, REPLAY_TIME);
            try {
                stop.await();
            } finally {
                LOG.info("stopping");
                shop.close();
            }
            LOG.info("stopped. The same command carries on.");
        } catch (ExampleException e) {
            LOG.error(e.getMessage());
            failed = true;
        } catch (RuntimeException e) {
            LOG.error(e.getMessage(), e);
            failed = true;
        } finally {
            stopped.countDown();
        }
        if (failed) {
            System.exit(1);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // A hook has nothing better to do.
            }
        }
    }
}
