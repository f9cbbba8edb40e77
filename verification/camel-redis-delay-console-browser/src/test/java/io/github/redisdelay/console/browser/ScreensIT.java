// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.test.RedisServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Takes a picture of each screen, into {@code target/screens}. With {@code -Dscreens.write=true} those of WebKit become
 * the ones of the pages, in {@code docs/images}.
 */
class ScreensIT extends PageIT {

    private static final boolean WRITE = Boolean.getBoolean("screens.write");
    private static final int MAX_BYTES = 150 * 1024;
    private static final String ORDER =
            "{\"order\": 77120, \"customer\": \"c-4711\", \"amount\": 129.90, \"currency\": \"EUR\","
                    + " \"lines\": [{\"article\": \"A-100\", \"count\": 2}, {\"article\": \"B-205\", \"count\": 1}]}";

    private final Random random = new Random(7);

    private static DueTime in(double minutes) {
        return DueTime.after(Duration.ofMillis((long) (minutes * 60_000)));
    }

    private static ScheduleRequest message(String id, DueTime due) {
        return Planted.message(id, due, ORDER, "application/json", Map.of("orderId", 77120));
    }

    private double wave(double minutes) {
        double at = random.nextDouble() * minutes;
        return at + Math.sin(at / minutes * 9) * minutes / 12 + minutes / 12;
    }

    private void plant() {
        DueTime before = new DueTime(false, (System.currentTimeMillis() - 2_460_000) * 1000);
        planted.wait("refunds", 37, i -> message("refund-" + (5000 + i), before));
        planted.wait("refunds", 400, i -> message("refund-" + (6000 + i), in(wave(90))));
        planted.consume("orders", "shop@app-1", 4, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        planted.consume("orders", "shop@app-2", 4, delivery -> delivery.settle(Settlement.ACKNOWLEDGE));
        planted.wait("orders", 1500, i -> message("order-" + (77000 + i), in(i < 150 ? 1 + i / 8.0 : wave(70))));
        DueTime burst = new DueTime(false, (System.currentTimeMillis() + 2_520_000) / 1000 * 1_000_000);
        planted.wait("orders", 240, i -> message("newsletter-" + i, burst));
        planted.waits("reminders", "r", Planted.IN_AN_HOUR);
        Planted.get(planted.queue("reminders").cancel("r"));
        planted.wait("invoices", 90, i -> message("invoice-" + (900 + i), in(wave(55))));
        Planted.get(planted.queue("invoices").admin().pause());

        FailureRecord[] causes = {
            Planted.failure("java.net.ConnectException", "Connection refused: smtp.example.com:587", "send", "app-1"),
            Planted.failure("java.net.ConnectException", "Connection refused: smtp.example.com:587", "send", "app-3"),
            Planted.failure(
                    "java.lang.IllegalArgumentException",
                    "no template 'welcome-2026' in language 'pt'",
                    "render",
                    "app-1"),
            Planted.failure("java.net.SocketTimeoutException", "Read timed out", "send", "app-2")
        };
        planted.bury(
                "mails",
                IntStream.range(0, 60)
                        .mapToObj(i -> message("mail-" + (310 + i), Planted.LONG_AGO))
                        .toList(),
                i -> causes[i % 9 == 8 ? 2 : i % 14 == 13 ? 3 : i % 2]);
        planted.wait("mails", 320, i -> message("mail-" + (1000 + i), in(wave(50))));
        Queue<Delivery> held = planted.hold("mails", "mailer@app-1", 2);
        planted.wait("mails", 2, i -> message("mail-" + (400 + i), Planted.LONG_AGO));
        Planted.await().until(() -> held.size() == 2);

        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put("Authorization", "Bearer abc");
        headers.put("orderId", 77120);
        headers.put("channel", "shop");
        Queue<Delivery> first = planted.hold("payments", "shop@app-1", 1);
        Planted.get(planted.queue("payments")
                .schedule(Planted.message("payment-77120", Planted.LONG_AGO, ORDER, "application/json", headers)));
        Planted.await().until(() -> first.size() == 1);
        first.remove()
                .settle(new Settlement.Retry(
                        Duration.ofMinutes(9),
                        new FailureRecord(
                                        "java.net.ConnectException",
                                        "Connection refused: pay.example.com:443",
                                        "charge",
                                        "app-1",
                                        1,
                                        Instant.now(),
                                        "failed")
                                .encode()));
        Planted.await().until(() -> planted.stats("payments").delayed() == 1);
    }

    @Test
    void should_look_well() throws Exception {
        RedisServer server = RedisServer.dedicated("appendonly yes", "maxmemory-policy noeviction");
        Config config = new Config();
        config.useSingleServer().setAddress(server.address());
        RedissonClient redisson = Redisson.create(config);
        planted.close();
        planted = new Planted(redisson, "redis-delay");
        console.close();
        console = RedisDelayConsole.on(server.address())
                .environment("STAGING")
                .actions(true)
                .port(0)
                .start();
        try {
            plant();
            takeAll();
        } finally {
            console.close();
            planted.close();
            redisson.shutdown();
            server.close();
        }
    }

    private void takeAll() throws IOException {
        show("");
        browser.until("document.querySelectorAll('#queues tbody tr').length === 6");
        browser.until("document.querySelectorAll('#queues .spark').length === 6");
        take("overview", 480);
        show("#/queue?name=orders");
        browser.see("g.bar.burst");
        browser.see("#messages tbody tr");
        browser.see("#history svg");
        take("queue", 1000);
        show("#/message?queue=payments&id=payment-77120");
        browser.see(".failure");
        take("message", 860);
        show("#/dead?queue=mails");
        browser.until("document.querySelectorAll('#causes tbody tr').length === 3");
        take("dead-letters", 800);
        browser.click("#causes [data-action=redriveCause]");
        browser.see("dialog");
        take("dialog", 800);
        browser.resize(360, 740);
        show("");
        browser.until("document.querySelectorAll('#queues tbody tr').length === 6");
        take("phone", 740);
        assertNoComplaints();
    }

    private void take(String name, int height) throws IOException {
        if (!name.equals("phone")) {
            browser.resize(Browser.WIDTH, height);
        }
        byte[] png = browser.png();
        assertThat(ImageIO.read(new ByteArrayInputStream(png)).getHeight()).isEqualTo(height);
        Path folder = Files.createDirectories(Path.of("target", "screens"));
        Files.write(folder.resolve(engine + "-" + name + ".png"), png);
        if (WRITE
                && engine == Engine.WEBKIT
                && List.of("overview", "queue", "message", "dead-letters").contains(name)) {
            assertThat(png).hasSizeLessThanOrEqualTo(MAX_BYTES);
            Files.write(Path.of("..", "..", "docs", "images", "console-" + name + ".png"), png);
        }
    }
}
