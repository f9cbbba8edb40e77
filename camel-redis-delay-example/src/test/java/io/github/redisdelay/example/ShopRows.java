// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads the example's database: beside a shop in this JVM, or after a process with a shop has ended. */
final class ShopRows {

    private final String url;

    ShopRows(Path dataFolder) {
        url = ShopDatabase.url(dataFolder) + ";IFEXISTS=TRUE";
    }

    /** Each row as column's name in lower case to value. */
    List<Map<String, Object>> of(String query) {
        try (Connection connection = DriverManager.getConnection(url, ShopDatabase.USER, "");
                ResultSet result = connection.createStatement().executeQuery(query)) {
            List<Map<String, Object>> rows = new ArrayList<>();
            while (result.next()) {
                Map<String, Object> row = new LinkedHashMap<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    row.put(result.getMetaData().getColumnLabel(i).toLowerCase(Locale.ROOT), result.getObject(i));
                }
                rows.add(row);
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    /** The first column. */
    List<String> column(String query) {
        return of(query).stream()
                .map(row -> String.valueOf(row.values().iterator().next()))
                .toList();
    }
}
