// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShopDatabaseTest {

    @TempDir
    Path folder;

    @Test
    void whatWasStoredIsThereAfterARestart() throws Exception {
        try (ShopDatabase database = ShopDatabase.open(folder);
                Connection connection = database.dataSource().getConnection()) {
            connection
                    .createStatement()
                    .execute("INSERT INTO event VALUES ('E-1', 'Chess', CURRENT_TIMESTAMP, FALSE, 1)");
        }

        try (ShopDatabase database = ShopDatabase.open(folder)) {
            assertThat(new ShopRows(folder).column("SELECT title FROM event")).containsExactly("Chess");
        }
    }

    @Test
    void aFileThatIsNoneIsNamed() throws Exception {
        Files.writeString(folder.resolve("shop.mv.db"), "no database");

        assertThatThrownBy(() -> ShopDatabase.open(folder))
                .isInstanceOf(ExampleException.class)
                .hasMessageStartingWith("The database in " + folder + " cannot be opened: ");
    }

    @Test
    void whoKnowsTheUrlSharesItAndNobodyElse() throws Exception {
        try (ShopDatabase database = ShopDatabase.open(folder)) {
            String url = database.share();
            try (ShopDatabase other = ShopDatabase.connect(url)) {
                assertThat(other.count("event")).isZero();
            }
            assertThat(database.count("event")).isZero();
            String guessed = url.substring(0, url.lastIndexOf('/') + 1) + folder.resolve("shop");
            try (ShopDatabase stranger = ShopDatabase.connect(guessed)) {
                assertThatThrownBy(() -> stranger.count("event"))
                        .hasStackTraceContaining("Wrong user name or password");
            }
        }
    }
}
