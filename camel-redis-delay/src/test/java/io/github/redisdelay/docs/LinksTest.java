// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each relative link of a page leads to a file that is there, and to a heading of it; some pages are short. */
class LinksTest {

    /** Of Markdown: {@code [text](target)}, {@code [text]: target}, and the same of HTML. */
    private static final Pattern MARKDOWN_LINK = Pattern.compile(
            "\\]\\(<?([^)\\s>]+)>?(?: \"[^\"]*\")?\\)|^\\[[^\\]]+\\]: (\\S+)|(?:href|src)=\"([^\"]+)\"");
    /** Of AsciiDoc: {@code link:target[text]}, {@code xref:target[text]}, {@code <<target,text>>}, {@code image::target[]}. */
    private static final Pattern ASCIIDOC_LINK =
            Pattern.compile("(?:link:|xref:|image::?)([^\\[\\s]+)\\[|<<([^,>]+)(?:,[^>]*)?>>");

    private static final Pattern ELSEWHERE = Pattern.compile("(?:[a-z]+:|//).*");
    private static final Pattern CODE = Pattern.compile("(`+)[^`].*?\\1(?!`)");
    private static final Pattern HTML_ANCHOR = Pattern.compile("<a (?:id|name)=\"([^\"]+)\"");
    private static final Pattern ASCIIDOC_ANCHOR = Pattern.compile("\\[\\[([^\\],]+)|\\[#([^\\],.%]+)");

    static List<Path> pages() throws IOException {
        return Block.pages();
    }

    @Test
    void should_read_the_pages() throws IOException {
        assertThat(pages())
                .extracting(page -> Block.ROOT.relativize(page).toString())
                .contains(
                        "README.md",
                        "CONTRIBUTING.md",
                        "camel-redis-delay-example/README.md",
                        "camel-redis-delay/src/main/docs/redis-delay-component.adoc",
                        "docs/benchmark/results.md",
                        "docs/comparison.md");
    }

    @ParameterizedTest
    @CsvSource({
        "README.md, 10500",
        "camel-redis-delay/src/main/docs/redis-delay-component.adoc, 60000",
        "docs/architecture.md, 15000",
        "docs/best-practices.md, 8000",
        "docs/limits.md, 8000",
        "docs/performance.md, 8000",
        "docs/reliability.md, 12000"
    })
    void should_be_short(String page, int characters) throws IOException {
        assertThat(Files.readString(Block.ROOT.resolve(page))).hasSizeLessThanOrEqualTo(characters);
    }

    @ParameterizedTest
    @MethodSource("pages")
    void should_lead_somewhere(Path page) throws IOException {
        assertThat(broken(page)).as("links of " + page + " that lead nowhere").isEmpty();
    }

    private static List<String> broken(Path page) throws IOException {
        List<String> broken = new ArrayList<>();
        for (String link : links(page)) {
            String[] parts = link.split("#", 2);
            Path target = parts[0].isEmpty()
                    ? page
                    : page.resolveSibling(URLDecoder.decode(parts[0], StandardCharsets.UTF_8));
            if (!Files.exists(target)) {
                broken.add(link + ": no such file");
            } else if (parts.length == 2
                    && target.toString().matches(".*\\.(md|adoc)")
                    && !anchors(target).contains(URLDecoder.decode(parts[1], StandardCharsets.UTF_8))) {
                broken.add(link + ": no such heading");
            }
        }
        return broken;
    }

    private static List<String> links(Path page) throws IOException {
        boolean asciidoc = page.toString().endsWith(".adoc");
        List<String> links = new ArrayList<>();
        for (String line : text(page)) {
            Matcher link = (asciidoc ? ASCIIDOC_LINK : MARKDOWN_LINK)
                    .matcher(CODE.matcher(line).replaceAll("code"));
            while (link.find()) {
                String target =
                        link.group(1) != null ? link.group(1) : link.group(2) != null ? link.group(2) : link.group(3);
                if (link.group().startsWith("<<") && !target.startsWith("#")) {
                    target = "#" + target;
                }
                // One with two colons leads to a page of Camel's own site.
                if (!ELSEWHERE.matcher(target).matches() && !target.contains("::")) {
                    links.add(target);
                }
            }
        }
        return links;
    }

    /** The lines outside of blocks of code. */
    static List<String> text(Path page) throws IOException {
        List<String> text = new ArrayList<>();
        String end = null;
        for (String line : Files.readAllLines(page)) {
            String stripped = line.strip();
            if (end != null) {
                end = stripped.equals(end) ? null : end;
            } else if (stripped.startsWith("```") || stripped.startsWith("~~~")) {
                end = stripped.substring(0, 3);
            } else if (page.toString().endsWith(".adoc") && (stripped.equals("----") || stripped.equals("...."))) {
                end = stripped;
            } else {
                text.add(line);
            }
        }
        return text;
    }

    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> headings = new HashMap<>();
        boolean asciidoc = page.toString().endsWith(".adoc");
        for (String line : text(page)) {
            Matcher explicit = (asciidoc ? ASCIIDOC_ANCHOR : HTML_ANCHOR).matcher(line);
            while (explicit.find()) {
                anchors.add(explicit.group(1) != null ? explicit.group(1) : explicit.group(2));
            }
            if (line.matches(asciidoc ? "=+ .+" : "#{1,6} .+")) {
                String heading = line.replaceFirst("[=#]+ ", "");
                String anchor = asciidoc ? ofAsciidoc(heading) : ofMarkdown(heading);
                if (asciidoc) {
                    anchors.add(heading); // <<Part two>> is a link, too
                }
                int before = headings.merge(anchor, 1, Integer::sum) - 1;
                if (asciidoc) {
                    anchors.add(before == 0 ? anchor : anchor + "_" + (before + 1));
                } else {
                    anchors.add(before == 0 ? anchor : anchor + "-" + before);
                }
            }
        }
        return anchors;
    }

    /** As GitHub makes them: lower case, words with hyphens between them, and of other characters none. */
    private static String ofMarkdown(String heading) {
        return heading.replaceAll("!?\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{Pc} -]", "")
                .replace(' ', '-');
    }

    /** As Asciidoctor makes them, with its usual prefix. */
    private static String ofAsciidoc(String heading) {
        return "_"
                + heading.strip()
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ .-]", "")
                        .replaceAll("[ .-]+", "_")
                        .replaceAll("_+$", "");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            What happens when … | what-happens-when-
            `RDelayedQueue`, and [others](x.md) | rdelayedqueue-and-others
            TLS & permissions | tls--permissions
            A 30-minute delay_time | a-30-minute-delay_time
            为什么不用 | 为什么不用
            """)
    void should_know_the_anchors_of_github(String heading, String anchor) {
        assertThat(ofMarkdown(heading)).isEqualTo(anchor);
    }

    @Test
    void should_notice_links_that_lead_nowhere(@TempDir Path folder) throws IOException {
        Path page = Files.writeString(folder.resolve("page.md"), """
                # A page

                [1](page.md) [2](page.md#a-page-1) [3](#a-page) [4](https://redis.io) `[5](none.md)` ![6](none.png)
                <a href="none.html">7</a>, ` [8]` and [9](other.adoc#_part_two), [10](other.adoc#_part_three)

                ```
                [11](none.txt)
                ```

                # A page

                [12]: none.csv
                [13](#nothing)
                """);
        Path other = Files.writeString(folder.resolve("other.adoc"), """
                == Part two

                link:page.md#a-page[1] link:page.md#none[2] <<_part_two>> <<Part two,3>> <<Part three>> xref:manual::index.adoc[4]

                ----
                link:none.md[5]
                ----
                """);
        assertThat(broken(page))
                .containsExactly(
                        "none.png: no such file",
                        "none.html: no such file",
                        "other.adoc#_part_three: no such heading",
                        "none.csv: no such file",
                        "#nothing: no such heading");
        assertThat(broken(other)).containsExactly("page.md#none: no such heading", "#Part three: no such heading");
    }
}
