// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The rules that each file of the page keeps: texts are only ever texts, nothing comes from elsewhere, and a file is
 * short.
 */
class PageFilesTest {

    /** Whatever makes elements, scripts or styles of a text. */
    private static final Pattern TEXT_BECOMES_CODE = Pattern.compile(
            "innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|parseFromString|srcdoc|\\bdocument\\.write"
                    + "|\\beval\\b|\\bnew Function\\b|javascript:|\\bset(?:Timeout|Interval)\\(['\"`]"
                    + "|\\bon[a-z]+=['\"]|<script>|\\bstyle=|\\.style\\b|setAttribute\\(['\"`]style|cssText");

    private static final Pattern ELSEWHERE =
            Pattern.compile("(?:https?:)?//[a-z0-9]|(?:href|src|from|import)[=( ]+['\"]/");

    private static final Pattern IMPORT = Pattern.compile("\\} from '([^']*)';|\\bimport\\(");

    private static final int LONGEST_LINE = 150;

    static List<Path> files() throws IOException, URISyntaxException {
        Path index = Path.of(
                Objects.requireNonNull(PageFilesTest.class.getResource("/io/github/redisdelay/console/page/index.html"))
                        .toURI());
        try (Stream<Path> files = Files.list(index.getParent())) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void should_never_make_code_of_a_text(Path file) throws IOException {
        assertThat(found(TEXT_BECOMES_CODE, Files.readString(file))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("files")
    void should_load_nothing_from_elsewhere_and_work_under_any_path(Path file) throws IOException {
        String text = Files.readString(file).replace("http://www.w3.org/2000/svg", "");
        assertThat(found(ELSEWHERE, text)).isEmpty();
        Matcher imports = IMPORT.matcher(text);
        while (imports.find()) {
            assertThat(imports.group(1)).isNotNull().startsWith("./");
            assertThat(file.resolveSibling(imports.group(1))).exists();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void should_be_served_under_its_name(Path file) {
        String name = file.getFileName().toString();
        Request request = new Request(
                "GET", name, null, Map.of(), "127.0.0.1", 8400, false, false, null, InputStream.nullInputStream());
        assertThat(new Pages().get(name, request)).isPresent();
    }

    @ParameterizedTest
    @MethodSource("files")
    void should_say_its_job_first_and_have_short_lines(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (file.toString().endsWith(".js")) {
            assertThat(lines.get(0)).startsWith("// ").endsWith(".");
            assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(LONGEST_LINE));
            assertThat(lines).hasSizeLessThan(250);
        }
    }

    private static List<String> found(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        List<String> found = new ArrayList<>();
        while (matcher.find()) {
            found.add(matcher.group());
        }
        return found;
    }
}
