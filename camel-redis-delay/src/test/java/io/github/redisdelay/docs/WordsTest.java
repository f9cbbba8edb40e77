// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One word for each thing, and short sentences, on the pages and in the texts of the product.
 *
 * <p>Each number is the count when it was last lowered. It may only fall: where you rewrite a sentence, lower its number.
 * That of all words has risen once, by what the page on the protocol lacked for a client in another language.
 */
class WordsTest {

    private static final int WORDS_OF_A_SENTENCE = 25;
    private static final int LONG_SENTENCES = 15;
    private static final int WORDS_OF_ALL_PAGES = 55_038;

    /** Quotations of others, generated tables and what was written at the time. */
    private static final Pattern NOT_READ =
            Pattern.compile("CHANGELOG\\.md|.*\\.zh-CN\\.md|.*/results\\.md|.*/notebook\\.md|docs/reports/.*|.*/zh/.*");

    private static final Pattern GENERATED =
            Pattern.compile("(?ms)^// [a-z ]+: START$.*?^// [a-z ]+: END$|^<!-- \\.ci/matrix -->$.*?^<!-- end -->$");

    private static final Pattern CODE = Pattern.compile("(`+)[^`]+?\\1");
    private static final Pattern LINK =
            Pattern.compile("!?\\[([^\\]]*)\\]\\([^)]*\\)|(?:link:|xref:|image::?)[^\\[\\s]+\\[([^\\]]*)\\]");
    private static final Pattern NO_PROSE =
            Pattern.compile("\\[[^\\]]+\\]: .*|//.*|<!--.*|<a .*|    .*|\\[(cols|%|NOTE|tabs).*|[|]===");
    /** A paragraph, an element of a list, a heading, a cell. */
    private static final Pattern PART = Pattern.compile("\n\\s*\n|\n(?=\\s*(?:[-*#=.]|\\d+\\.) ?)|[|]|::(?=\\s)");

    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?]|[.!?][*)\"])\\s+");
    private static final Pattern WORD = Pattern.compile("\\S*\\w\\S*");

    /** Guides: neither a reference, nor the figures of others, nor questions, whose figures FaqPageTest finds in the answers. */
    private static final Pattern GUIDE = Pattern.compile("README\\.md|docs/(?!comparison|faq|protocol)[a-z-]+\\.md");

    private static final Pattern FIGURE = Pattern.compile(
            "(?<![\\w.,-])\\d+(?:[ .]\\d+)* ?(?:µs|ms|ns|s|min|minutes?|hours?|h|days?|seconds?|bytes|[KM]iB|[kMG]B|messages|/s"
                    + "|a second|%)(?!\\w)");

    private static final Pattern COMMENT = Pattern.compile("(?s:/\\*.*?\\*/)|(?m)^\\s*//.*$");
    private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`");

    private static final Map<String, String> PAGES = new TreeMap<>();
    private static final Map<String, String> TEXTS = new TreeMap<>();
    /** As wc counts them, code included, of all but the generated tables. */
    private static final Map<String, Integer> WORDS = new TreeMap<>();

    @BeforeAll
    static void read() throws IOException {
        for (Path page : Block.pages()) {
            String name = name(page);
            if (!NOT_READ.matcher(name).matches()) {
                PAGES.put(name, prose(LinksTest.text(page)));
                String written = GENERATED.matcher(Files.readString(page)).replaceAll("");
                WORDS.put(name, written.strip().split("\\s+").length);
            }
        }
        for (Path file : texts()) {
            TEXTS.put(name(file), literals(file));
        }
    }

    private static String name(Path file) {
        return Block.ROOT.relativize(file).toString();
    }

    private static String prose(List<String> lines) {
        List<String> prose = new ArrayList<>();
        lines.forEach(line -> prose.add(NO_PROSE.matcher(line).matches() ? "" : line));
        String text = CODE.matcher(String.join("\n", prose)).replaceAll("code");
        return LINK.matcher(text).replaceAll("$1$2");
    }

    /** The sources of descriptions, logs, errors and JMX, the console's page, and the alerts. */
    private static List<Path> texts() throws IOException {
        List<Path> files = new ArrayList<>(List.of(Block.ROOT.resolve("docs/monitoring/alerts.yml")));
        for (String folder : List.of("camel-redis-delay/src/main", "extensions")) {
            try (Stream<Path> found = Files.walk(Block.ROOT.resolve(folder))) {
                found.filter(file -> name(file).matches("(?!.*/target/).*src/main/.*\\.(java|js|html)"))
                        .forEach(files::add);
            }
        }
        return files;
    }

    /** The literals of several words; the whole where it is no program. */
    private static String literals(Path file) throws IOException {
        String text = Files.readString(file);
        if (!file.toString().matches(".*\\.(java|js)")) {
            return text;
        }
        StringBuilder literals = new StringBuilder();
        LITERAL.matcher(COMMENT.matcher(text).replaceAll(""))
                .results()
                .map(MatchResult::group)
                .filter(literal -> literal.contains(" "))
                .forEach(literal -> literals.append(literal).append('\n'));
        return literals.toString();
    }

    private static List<String> longSentences(String prose) {
        return PART.splitAsStream(prose)
                .flatMap(SENTENCE_END::splitAsStream)
                .filter(sentence -> WORD.matcher(sentence).results().count() > WORDS_OF_A_SENTENCE)
                .map(sentence -> sentence.strip().replaceAll("\\s+", " "))
                .toList();
    }

    private static List<String> found(String words, Map<String, String> texts) {
        Pattern pattern = Pattern.compile("(?i)\\b(?:" + words.replace(" ", "\\s+") + ")\\b");
        List<String> found = new ArrayList<>();
        texts.forEach((name, text) -> pattern.matcher(text)
                .results()
                .forEach(match -> found.add(name + ": "
                        + text.substring(Math.max(0, match.start() - 50), Math.min(text.length(), match.end() + 30))
                                .replaceAll("\\s+", " "))));
        return found;
    }

    @Test
    void should_have_few_words() {
        Map<String, Integer> pages = new TreeMap<>(WORDS);
        pages.remove("llms.txt"); // for assistants
        assertThat(pages.values().stream().mapToInt(Integer::intValue).sum())
                .as("words of all pages: %s", pages)
                .isLessThanOrEqualTo(WORDS_OF_ALL_PAGES);
    }

    @Test
    void should_have_short_sentences() {
        List<String> tooLong = new ArrayList<>();
        PAGES.forEach(
                (page, prose) -> longSentences(prose).forEach(sentence -> tooLong.add("\n" + page + ": " + sentence)));
        assertThat(tooLong.size())
                .as("sentences of more than 25 words: %s\n", tooLong)
                .isLessThanOrEqualTo(LONG_SENTENCES);
    }

    /**
     * @param words that have a better one
     * @param instead the better one
     * @param pages the most uses on pages
     * @param texts the most uses in texts
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            waiting|waits ; delayed, of a message ; 45 ; 9
            pending ; delayed ; 0 ; 0
            in flight|in-flight|under way|being delivered|being worked on ; leased ; 1 ; 0
            hold|holds|held|holding ; lease, pause, or park ; 12 ; 4
            holder|holders ; the lease's owner ; 0 ; 0
            waiter|waiters ; idle consumer ; 6 ; 3
            listener|listeners|who listens|nobody listens ; consumer ; 1 ; 2
            settle|settles|settled|settling ; acknowledge, retry, release, or dead-letter ; 0 ; 0
            negativeAcknowledge ; retry, or release ; 0 ; 0
            give back|gives back|given back|gave back|return|returned to the queue ; release ; 1 ; 0
            bury|buries|buried|burial ; dead-letter ; 0 ; 0
            drop|drops|dropped ; give up, or cancel ; 27 ; 8
            discard|discards|discarded|clear away ; purge ; 0 ; 0
            forget|forgets|forgotten ; purge, or remove ; 2 ; 1
            storm|storms ; burst ; 0 ; 0
            job|jobs|repeatable job ; run, of a recurring schedule ; 21 ; 6
            tells|told|is told ; shows, reports, returns ; 0 ; 3
            look|looks|looked|looking ; get, list, read ; 6 ; 3
            hears|heard ; receives ; 0 ; 0
            somebody|nobody|whoever|anybody ; a thing with a name, or you ; 0 ; 0
            what waits|what is due|what looks|what acts|who comes ; a noun ; 1 ; 0
            as ever|all the same|at the most|besides|tries on|goes on by itself|meanwhile ; the plain English for it ; 0 ; 0
            stands here|stands on|stands behind|stands beside ; is ; 0 ; 0
            beside it|beside them|beside ours ; with ; 0 ; 0
            mend|mends|mended ; repair, or fix ; 0 ; 0
            for people|are some|as they are ; a plain phrase ; 0 ; 0
            door|doors|room|ear|laboratory|laboratory's book ; the thing itself ; 0 ; 0
            floor|floors ; baseline of a measurement, layer of the code ; 11 ; 1
            """)
    void should_have_one_word_for_each_thing(String words, String instead, int pages, int texts) {
        check(words, instead, pages, texts);
    }

    private static void check(String words, String instead, int pages, int texts) {
        List<String> onPages = found(words, PAGES);
        List<String> inTexts = found(words, TEXTS);
        assertThat(List.of(onPages.size(), inTexts.size()))
                .as(
                        "uses of '%s' (better: %s):\n%s\n%s",
                        words, instead, String.join("\n", onPages), String.join("\n", inTexts))
                .satisfies(counts -> assertThat(counts.get(0)).as("pages").isLessThanOrEqualTo(pages))
                .satisfies(counts -> assertThat(counts.get(1)).as("texts").isLessThanOrEqualTo(texts));
    }

    private static Map<String, Set<String>> figures(Map<String, String> texts) {
        Map<String, Set<String>> pages = new TreeMap<>();
        texts.forEach((page, prose) -> FIGURE.matcher(prose.replaceAll("\\s+", " "))
                .results()
                .map(figure -> figure.group().replaceAll("(?<=\\d)(?=[^\\d .])", " "))
                .forEach(figure ->
                        pages.computeIfAbsent(figure, known -> new TreeSet<>()).add(page)));
        pages.values().removeIf(where -> where.size() < 2);
        return pages;
    }

    /** A figure is on one guide, and others link to it. These are on several: figures of the default options, and of examples. */
    @Test
    void should_have_each_figure_on_one_guide() {
        Map<String, Integer> allowed = new TreeMap<>();
        """
                1 h ; 3
                1 s ; 6
                10 s ; 4
                100 000 messages ; 3
                100 messages ; 2
                100 ms ; 2
                2 s ; 2
                200 bytes ; 6
                3 s ; 2
                30 days ; 2
                30 minutes ; 4
                30 s ; 6
                45 s ; 3
                5 ms ; 2
                50 ms ; 2
                """.lines().map(line -> line.split(" ; ")).forEach(parts -> allowed.put(parts[0], Integer.valueOf(parts[1])));
        Map<String, String> guides = new TreeMap<>(PAGES);
        guides.keySet().removeIf(page -> !GUIDE.matcher(page).matches());
        assertThat(figures(guides)).allSatisfy((figure, pages) -> assertThat(pages)
                .as("pages with '%s': let one have it, and the others link to that", figure)
                .hasSizeLessThanOrEqualTo(allowed.getOrDefault(figure, 1)));
    }

    @Test
    void should_notice_a_figure_that_stands_twice() {
        assertThat(figures(
                        Map.of("a", "It takes\n5 358/s, 12 ms.", "b", "At 12 ms or 12.5 ms", "c", "v12 ms-x 5 358 /s")))
                .hasToString("{12 ms=[a, b], 5 358 /s=[a, c]}");
    }

    @Test
    void should_read_pages_and_texts() {
        assertThat(PAGES).hasSizeGreaterThan(30).containsKeys("README.md", "docs/recipes.md");
        assertThat(TEXTS.toString()).contains("overdue", "dead letter").hasSizeGreaterThan(10_000);
    }

    @Test
    void should_notice_long_sentences_and_words() {
        String twenty = "one two three four five ".repeat(4);
        assertThat(longSentences(twenty + twenty + ". Short.\n\n" + twenty + "\n- " + twenty))
                .hasSize(1);
        assertThat(found("in flight", Map.of("page", "A message in\nflight.", "other", "inflight")))
                .hasSize(1);
        assertThat(prose(List.of("See `in flight`, [what](in-flight.md)", "    mvn")))
                .isEqualTo("See code, what\n");
    }
}
