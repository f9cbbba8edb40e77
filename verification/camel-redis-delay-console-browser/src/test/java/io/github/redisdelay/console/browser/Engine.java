// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An engine in which the page is tried. */
enum Engine {
    WEBKIT,
    CHROMIUM;

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    /** All of them must be here: {@code -Dbrowsers=all}, as on a build server. Else the tests of a missing one are skipped. */
    private static final boolean ALL = "all".equals(System.getProperty("browsers"));

    /** WebKit, for its tests say what is missing, and Chromium where there is one. */
    static List<Engine> tried() {
        return Stream.of(values())
                .filter(engine -> engine == WEBKIT || ALL || engine.missing() == null)
                .toList();
    }

    /** What keeps it from running here; null if nothing does. */
    private String missing() {
        if (this == WEBKIT) {
            return WebKit.missing();
        }
        return Chromium.binary() != null
                ? null
                : "no Chromium: name one by -Dbrowser=FILE or the variable CHROME, or put 'chromium' or 'google-chrome' on"
                        + " the path";
    }

    /** A new window. Where the engine is missing the test is skipped, or fails with {@code -Dbrowsers=all}. */
    Browser open() {
        String missing = missing();
        if (missing != null) {
            LOG.warn("The page is not tried in {}: {}", this, missing);
            if (ALL) {
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
