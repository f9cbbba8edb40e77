// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class ExampleSettingsTest {

    private final Properties system = new Properties();

    @Test
    void nothingHasToBeSet() {
        assertThat(ExampleSettings.of(Map.of("REDIS_ADDRESS", " "), system))
                .isEqualTo(new ExampleSettings(
                        Path.of("example-data").toAbsolutePath(),
                        java.util.Optional.empty(),
                        8080,
                        8400,
                        true,
                        new ShopTime(3600),
                        ExampleSettings.Role.BOTH));
    }

    @Test
    void theBuildSaysWhereTheDataIsAndTheEnvironmentWins() {
        system.setProperty("example.data", "/from/the/build");

        assertThat(ExampleSettings.of(Map.of(), system).dataFolder())
                .isEqualTo(Path.of("/from/the/build").toAbsolutePath());
        assertThat(ExampleSettings.of(Map.of("EXAMPLE_DATA", "/mine"), system).dataFolder())
                .isEqualTo(Path.of("/mine").toAbsolutePath());
    }

    @Test
    void everythingCanBeSet() {
        ExampleSettings settings = ExampleSettings.of(
                Map.of(
                        "REDIS_ADDRESS",
                        "redis://h:6379",
                        "HTTP_PORT",
                        "8081",
                        "CONSOLE_PORT",
                        "0",
                        "REPLAY",
                        "off",
                        "SPEED",
                        "60"),
                system);

        assertThat(settings.redisAddress()).contains("redis://h:6379");
        assertThat(settings.httpPort()).isEqualTo(8081);
        assertThat(settings.consolePort()).isZero();
        assertThat(settings.replay()).isFalse();
        assertThat(settings.time()).isEqualTo(new ShopTime(60));
    }

    @Test
    void nonsenseIsNamed() {
        assertThatThrownBy(() -> ExampleSettings.of(Map.of("HTTP_PORT", "99999"), system))
                .isInstanceOf(ExampleException.class)
                .hasMessage("HTTP_PORT=99999: it must be a port, 1 to 65535");
        assertThatThrownBy(() -> ExampleSettings.of(Map.of("CONSOLE_PORT", "x"), system))
                .hasMessage("CONSOLE_PORT=x: it must be a port, 0 to 65535");
        assertThatThrownBy(() -> ExampleSettings.of(Map.of("REPLAY", "nope"), system))
                .hasMessage("REPLAY=nope: it must be on or off");
        for (String speed : new String[] {"0", "-1", "100001", "1.5", "fast"}) {
            assertThatThrownBy(() -> ExampleSettings.of(Map.of("SPEED", speed), system))
                    .hasMessage("SPEED=" + speed + ": it must be a whole number, 1 to 100000");
        }
    }
}
