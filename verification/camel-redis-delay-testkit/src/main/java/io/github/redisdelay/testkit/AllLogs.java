// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/**
 * Everything that anybody logs, with stack traces, while open; it goes nowhere else. Of what Camel logs, INFO and
 * above.
 */
public final class AllLogs implements AutoCloseable {

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Level before = root.getLevel();
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final Level level;

    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            boolean ours = event.getLoggerName().startsWith("io.github.redisdelay")
                    || event.getLoggerName().startsWith("org.redisson");
            if (event.getLevel().isGreaterOrEqual(ours ? level : Level.INFO)) {
                lines.add(event.getLevel() + " " + event.getLoggerName() + " " + event.getFormattedMessage()
                        + (event.getThrowableProxy() == null
                                ? ""
                                : "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy())));
            }
        }
    };

    /** @param level the least that is taken of what we and Redisson log */
    public AllLogs(Level level) {
        this.level = level;
        for (Iterator<Appender<ILoggingEvent>> all = root.iteratorForAppenders(); all.hasNext(); ) {
            others.add(all.next());
        }
        others.forEach(root::detachAppender);
        appender.start();
        root.addAppender(appender);
        root.setLevel(level);
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        root.detachAppender(appender);
        others.forEach(root::addAppender);
        root.setLevel(before);
    }
}
