// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An engine in which the page is tried. */
enum Engine {
    WEBKIT,
    CHROMIUM;

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    /**
     * Those that must be here: {@code -Dbrowsers=webkit,chromium}, as on a build server. The tests of another one are
     * skipped without it.
     */
    private static final List<String> REQUIRED =
            List.of(System.getProperty("browsers", "").split(","));

    /** WebKit, for its tests say what is missing, and Chromium where there is one. */
    static List<Engine> tried() {
        return Stream.of(values())
                .filter(engine -> engine == WEBKIT || engine.isRequired() || engine.missing() == null)
                .toList();
    }

    private boolean isRequired() {
        return REQUIRED.contains(name().toLowerCase(Locale.ROOT));
    }

    /** The reason that keeps it from running here; null if there is none. */
    private String missing() {
        if (this == WEBKIT) {
            return WebKit.missing();
        }
        return Chromium.binary() != null
                ? null
                : "no Chromium: name one by -Dbrowser=FILE or the variable CHROME, or put 'chromium' or 'google-chrome' on"
                        + " the path";
    }

    /** A new window. Where the engine is missing the test is skipped, or fails if it is required. */
    Browser open() {
        String missing = missing();
        if (missing != null) {
            LOG.warn("The page is not tried in {}: {}", this, missing);
            if (isRequired()) {
                throw new AssertionError(this + " is missing: " + missing);
            }
            Assumptions.abort(this + " is missing: " + missing);
        }
        try {
            Path data = Files.createTempDirectory(Files.createDirectories(Path.of("target", "browsers")), name());
            return this == WEBKIT ? new WebKit(data.toFile()) : new Chromium(data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
