// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A line of a page such as {@code redis-cli ZCARD 'key' # (integer) 2: what it means}. The reply stands in the page as redis-cli shows it at a
 * terminal, a list in one line; {@code …} stands for anything, and so does a number of ten digits or more for another one.
 *
 * @param filter what {@code | grep} lets pass of each line; null for all
 * @param reply what the page says
 */
record RedisCli(String line, List<String> words, Pattern filter, String reply) {

    private static final Pattern LINE =
            Pattern.compile("redis-cli (?<words>.*?)(?: \\| grep (?<filter>\\S+))? +# (?<reply>.*?)(?:: .*)?");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|([^\\s'|>]+)");
    private static final Pattern ANYTHING = Pattern.compile("…|\\d{10,}");

    /** Tells whether a block has such lines and nothing else. */
    static boolean isAllOf(Block block) {
        return block.language().equals("sh") && block.code().lines().allMatch(line -> line.startsWith("redis-cli "));
    }

    static RedisCli of(String line) {
        Matcher parts = LINE.matcher(line);
        assertThat(parts.matches()).as(line + " looks like " + LINE).isTrue();
        List<String> words = WORD.matcher(parts.group("words"))
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toList();
        String filter = parts.group("filter");
        return new RedisCli(line, words, filter == null ? null : Pattern.compile(filter), parts.group("reply"));
    }

    /** Sends the command, and compares the reply with that of the page. */
    void check(RedisSocket redis) throws IOException {
        String shown = words.get(0).equals("--scan") ? scan(redis) : redis.shown(words);
        if (filter != null) {
            // A text of many lines is shown as it is where redis-cli does not write to a terminal.
            shown = shown.substring(1).lines().filter(filter.asPredicate()).collect(Collectors.joining("\n"));
        }
        Matcher parts = ANYTHING.matcher(reply);
        StringBuilder expected = new StringBuilder();
        int from = 0;
        while (parts.find()) {
            expected.append(Pattern.quote(reply.substring(from, parts.start())))
                    .append(parts.group().equals("…") ? ".+" : "\\d{10,}");
            from = parts.end();
        }
        expected.append(Pattern.quote(reply.substring(from)));
        assertThat(shown).as(line).matches(Pattern.compile(expected.toString(), Pattern.DOTALL));
    }

    private String scan(RedisSocket redis) throws IOException {
        assertThat(words.subList(0, 2)).as(line).containsExactly("--scan", "--pattern");
        List<String> keys = new ArrayList<>();
        // All of them in one step: the server of a test has few.
        Matcher found = Pattern.compile("\"([^\"]*)\"")
                .matcher(redis.shown(List.of("SCAN", "0", "MATCH", words.get(2), "COUNT", "100000")));
        for (found.find(); found.find(); ) { // the first one is the cursor
            keys.add(found.group());
        }
        return String.join("\n", keys);
    }
}
