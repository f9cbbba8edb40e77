// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.stored;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.CamelRedisIT;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import io.github.redisdelay.test.RedisExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each version leaves three files, in a folder with its first two numbers: all that it stores ({@code keys.txt}), what it sees
 * of that ({@code queues.txt}), and what routes get of it ({@code deliveries.txt}). This version has to see and deliver the same
 * of what every version has stored; and as long as it stores what the last one stored, that one reads it as well.
 *
 * <p>{@code -Dstored.write=true} writes the files of the version in the POM. The files of a version that was released never change.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StoredFormatIT {

    private static final Path FOLDER = Path.of("src/test/resources/io/github/redisdelay/stored");
    /** The headers that a redrive or a promotion changes, or that the moment of the delivery decides. */
    private static final List<String> OF_THE_MOMENT = List.of(
            RedisDelayConstants.DUE_TIME,
            RedisDelayConstants.LATENESS,
            RedisDelayConstants.SCHEDULED_TIME,
            "CamelMessageTimestamp");

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private String prefix;
    private DelayQueueClient client;
    private DefaultCamelContext context;

    @BeforeEach
    void open() {
        prefix = redis.keyPrefix();
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(prefix));
        context = CamelRedisIT.newContext();
        context.getShutdownStrategy().setTimeout(10);
        RedisDelayComponent component = new RedisDelayComponent();
        component.getConfiguration().setKeyPrefix(prefix);
        component.getConfiguration().setRedisson(redis.client());
        context.addComponent("redis-delay", component);
    }

    @AfterEach
    void close() throws Exception {
        context.close();
        client.close();
    }

    static List<Path> versions() throws IOException {
        try (Stream<Path> folders = Files.list(FOLDER)) {
            return folders.sorted(Comparator.comparing(folder ->
                            Integer.valueOf(folder.getFileName().toString().substring(2))))
                    .toList();
        }
    }

    /** The folder of the version in the POM. */
    private static Path ofThisVersion() throws IOException {
        Matcher version = Pattern.compile("<version>(\\d+\\.\\d+)\\.").matcher(Files.readString(Path.of("../pom.xml")));
        assertThat(version.find()).isTrue();
        return FOLDER.resolve(version.group(1));
    }

    @Test
    @Order(1)
    void should_store_what_the_files_say() throws Exception {
        StoredStory story = new StoredStory(context, client);
        try {
            story.begin();
            if (Boolean.getBoolean("stored.write")) {
                Files.createDirectories(ofThisVersion());
                StoredKeys.dump(redis.client(), prefix).write(ofThisVersion().resolve("keys.txt"));
                Files.write(
                        ofThisVersion().resolve("queues.txt"), StoredQueues.describe(client, StoredStory.PARTITIONS));
            }
            List<Path> versions = versions();
            Path last = versions.get(versions.size() - 1);
            List<String> said = StoredKeys.read(last.resolve("keys.txt")).withoutChance();
            // The record that a consumer writes when it begins may come last.
            await().untilAsserted(() -> assertThat(
                            StoredKeys.dump(redis.client(), prefix).withoutChance())
                    .as(
                            "What is stored now, and what was, by %s. If you have changed a format: the version before must be able"
                                    + " to read the new one, see UPGRADING.md. Then write the files of this version,"
                                    + " with -Dstored.write=true.",
                            last)
                    .isEqualTo(said));
        } finally {
            story.end();
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    void should_see_what_was_stored(Path version) throws IOException {
        StoredKeys.read(version.resolve("keys.txt")).load(redis.address(), prefix);
        assertThat(StoredQueues.describe(client, StoredStory.PARTITIONS))
                .isEqualTo(Files.readAllLines(version.resolve("queues.txt")));
        for (String name : StoredStory.PARTITIONS.keySet()) {
            DelayQueue queue = client.queue(name, StoredStory.PARTITIONS.get(name));
            for (DelayQueue checked : List.of(queue, queue.deadLetters())) {
                CheckResult found = checked.admin().check().join();
                assertThat(found).isEqualTo(new CheckResult(found.messages(), 0, 0, 0));
            }
        }
        assertThat(client.queues(10).join()).hasSize(2);
        assertThatThrownBy(() -> client.usePartitions(StoredStory.TICKETS, 3).join())
                .hasRootCauseInstanceOf(PartitionMismatchException.class);
        assertThatThrownBy(() -> client.queue(StoredStory.ORDERS)
                        .schedule(ScheduleRequest.of(StoredStory.REMEMBERED, new byte[0], DueTime.after(Duration.ZERO)))
                        .result()
                        .get())
                .hasRootCauseInstanceOf(DuplicateMessageException.class);
    }

    @ParameterizedTest
    @MethodSource("versions")
    void should_deliver_what_was_stored(Path version) throws Exception {
        StoredKeys.read(version.resolve("keys.txt")).load(redis.address(), prefix);
        List<String> expected = Boolean.getBoolean("stored.write") && version.equals(ofThisVersion())
                ? null
                : Files.readAllLines(version.resolve("deliveries.txt"));
        List<String> deliveries = Collections.synchronizedList(new ArrayList<>());
        DelayQueue orders = client.queue(StoredStory.ORDERS);
        assertThat(orders.admin().redriveAll(info -> true, Long.MAX_VALUE).join())
                .isEqualTo(2);
        for (String name : StoredStory.PARTITIONS.keySet()) {
            client.queue(name, StoredStory.PARTITIONS.get(name))
                    .admin()
                    .promoteAll(info -> true, Long.MAX_VALUE)
                    .join();
        }
        orders.admin().resume().result().get();
        orders.deadLetters().admin().resume().result().get();

        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("redis-delay:" + StoredStory.ORDERS)
                        .process(exchange -> deliveries.add(text(exchange.getMessage())));
                from("redis-delay:" + StoredStory.ORDERS + "?state=dead")
                        .process(exchange -> deliveries.add("dead: " + text(exchange.getMessage())));
                from("redis-delay:" + StoredStory.TICKETS + "?partitions=2")
                        .process(exchange -> deliveries.add(text(exchange.getMessage())));
            }
        });
        context.start();

        // Files that were just written have leases that last for up to 30 s.
        await().atMost(Duration.ofSeconds(60)).until(this::isEmpty);
        List<String> sorted = deliveries.stream().sorted().toList();
        if (expected == null) {
            Files.write(version.resolve("deliveries.txt"), sorted);
        } else {
            assertThat(sorted).isEqualTo(expected);
        }
    }

    private boolean isEmpty() {
        return StoredStory.PARTITIONS.entrySet().stream().allMatch(queue -> {
            QueueStats stats = client.queue(queue.getKey(), queue.getValue())
                    .admin()
                    .stats()
                    .join();
            return stats.stored() == 0 && stats.dead() == 0;
        });
    }

    private static String text(Message message) {
        Map<String, Object> headers = new TreeMap<>(message.getHeaders());
        headers.keySet().removeAll(OF_THE_MOMENT);
        return headers.get(RedisDelayConstants.QUEUE) + " " + headers.get(RedisDelayConstants.MESSAGE_ID) + ": headers "
                + StoredQueues.values(headers) + ", body " + StoredQueues.value(message.getBody());
    }
}
