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
}
