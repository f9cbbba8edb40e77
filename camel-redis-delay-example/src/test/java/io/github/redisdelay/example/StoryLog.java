// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** Reads the story that the shop logs, and what the component has to say. */
final class StoryLog implements BeforeEachCallback, AfterEachCallback {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<Logger> loggers = Stream.of(Story.SHOP, "io.github.redisdelay")
            .map(name -> (Logger) LoggerFactory.getLogger(name))
            .toList();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getFormattedMessage());
        }
    };

    /** The lines in which all these words occur. */
    List<String> lines(String... words) {
        return lines.stream()
                .filter(line -> List.of(words).stream().allMatch(line::contains))
                .toList();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        lines.clear();
        appender.start();
        loggers.forEach(logger -> {
            logger.setLevel(Level.INFO);
            logger.setAdditive(false);
            logger.addAppender(appender);
        });
    }

    @Override
    public void afterEach(ExtensionContext context) {
        loggers.forEach(logger -> {
            logger.detachAppender(appender);
            logger.setAdditive(true);
            logger.setLevel(null);
        });
    }
}
