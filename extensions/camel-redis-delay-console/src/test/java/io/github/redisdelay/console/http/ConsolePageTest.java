// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.api.ApiException;
import io.github.redisdelay.console.api.ConsoleApi;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The page docs/console.md has the paths, rights and options that there are. */
class ConsolePageTest {

    private static final Pattern ROW =
            Pattern.compile("^\\| (GET|POST) \\| `([^`]+)` \\| ([^|]+?) \\|", Pattern.MULTILINE);
    private static final Pattern OPTION = Pattern.compile("^\\| `(\\w+)` \\|", Pattern.MULTILINE);

    private static String page;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("../../docs/console.md"));
    }

    @Test
    void should_have_each_path_with_its_right() {
        ConsoleApi api = new ConsoleApi(List::of, List::of, ConsoleOptions.DEFAULTS);
        List<String> there = ApiRoutes.of(api).stream()
                .map(route ->
                        route.method() + " " + route.path() + " " + route.rule().text())
                .toList();
        api.close();
        List<String> told = ROW.matcher(page)
                .results()
                .map(row -> row.group(1) + " " + row.group(2) + " " + row.group(3))
                .toList();
        assertThat(told).containsExactlyInAnyOrderElementsOf(there);
    }

    @Test
    void should_have_each_parameter_of_an_address() {
        String table = page.substring(page.indexOf("| GET |"), page.indexOf("| POST |"));
        assertThat(ApiRoutes.PARAMETERS).allSatisfy(name -> assertThat(table).contains("`" + name + "`"));
    }

    @Test
    void should_have_each_option() {
        Set<String> options = Arrays.stream(ConsoleOptions.class.getRecordComponents())
                .map(RecordComponent::getName)
                .collect(Collectors.toSet());
        String table = page.substring(page.indexOf("## Options"), page.indexOf("## Who may do what"));
        assertThat(OPTION.matcher(table).results().map(MatchResult::group).map(row -> row.replaceAll("[|` ]", "")))
                .containsExactlyInAnyOrderElementsOf(options);
        assertThat(table)
                .contains("`" + ConsoleOptions.DEFAULT_HOST + "`", "`" + ConsoleOptions.DEFAULT_PORT + "`")
                .contains("`" + ConsoleOptions.DEFAULT_HIDDEN_HEADERS.replace("|", "\\|") + "`");
    }

    @Test
    void should_have_each_error() {
        String table = page.substring(page.indexOf("An error is "));
        for (ApiException.Kind kind : ApiException.Kind.values()) {
            assertThat(table).contains("`" + kind.code() + "`");
        }
    }
}
