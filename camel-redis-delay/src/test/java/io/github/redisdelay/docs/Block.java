// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A block of code of a page, in Markdown or AsciiDoc.
 *
 * @param page the page, from the root of the checkout
 * @param line the number of its first line of code
 * @param language what the page says it is, such as {@code java}; empty if it says nothing
 */
record Block(String page, int line, String language, String code) {

    /** The root of the checkout, where tests of this module run beside it. */
    static final Path ROOT = Path.of(Files.exists(Path.of("../camel-redis-delay-bom")) ? ".." : "../..");

    static final String CONSOLE = "docs/console.md";

    private static final Set<String> NO_SOURCES = Set.of("target", ".git", "node_modules");

    private static final List<String> PAGES = List.of(
            "README.md",
            "README.zh-CN.md",
            "docs/backup.md",
            "docs/best-practices.md",
            "docs/comparison.md",
            "docs/connections.md",
            CONSOLE,
            "docs/consuming.md",
            "docs/failing.md",
            "docs/failures.md",
            "docs/faq.md",
            "docs/getting-started.md",
            "docs/glossary.md",
            "docs/groups.md",
            "docs/guarantees.md",
            "docs/jmx.md",
            "docs/lifecycle.md",
            "docs/migration-codecs.md",
            "docs/migration.md",
            "docs/operating.md",
            "docs/queue-layer.md",
            "docs/rates.md",
            "docs/recipes.md",
            "docs/recurring.md",
            "docs/replicas.md",
            "docs/scheduling.md",
            "docs/sharing-redis.md",
            "docs/spring-boot.md",
            "docs/testing.md",
            "docs/tools.md",
            "docs/troubleshooting.md",
            "docs/unpaid-orders.md",
            "docs/unpaid-orders.zh-CN.md",
            "docs/versions.md",
            "llms.txt",
            "camel-redis-delay/src/main/docs/redis-delay-component.adoc");

    private static final Pattern MARKDOWN = Pattern.compile("\\s*(?:```|~~~)(\\S*)");
    private static final List<String> ASCIIDOC = List.of("----", "....");
    private static final Pattern ASCIIDOC_LANGUAGE = Pattern.compile("\\[source(?:,(\\w+))?.*]");

    /** Each Markdown and AsciiDoc file of the checkout, and llms.txt, but for what a build has made. */
    static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return NO_SOURCES.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().matches(".*(\\.(md|adoc)|llms\\.txt)")) {
                    pages.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return pages;
    }

    static List<Block> all() throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (String page : PAGES) {
            blocks.addAll(of(page, Files.readAllLines(ROOT.resolve(page))));
        }
        return blocks;
    }

    /** The blocks of each group of tabs: one route, or several, in Camel's languages. */
    static List<List<Block>> tabs() throws IOException {
        List<List<Block>> groups = new ArrayList<>();
        for (String page : PAGES) {
            List<String> lines = Files.readAllLines(ROOT.resolve(page));
            for (int begin = 0; begin < lines.size(); begin++) {
                if (lines.get(begin).equals("[tabs]")) {
                    List<String> group = lines.subList(begin + 2, lines.size());
                    groups.add(of(page + ":" + (begin + 1), group.subList(0, group.indexOf("===="))));
                }
            }
        }
        return groups;
    }

    /** @throws IllegalArgumentException if the last block does not end */
    static List<Block> of(String page, List<String> lines) {
        List<Block> blocks = new ArrayList<>();
        String language = "";
        int number = 0;
        for (Iterator<String> rest = lines.iterator(); rest.hasNext(); ) {
            String line = rest.next();
            number++;
            Matcher markdown = MARKDOWN.matcher(line);
            Matcher asciidoc = ASCIIDOC_LANGUAGE.matcher(line);
            if (asciidoc.matches()) {
                language = asciidoc.group(1) == null ? "" : asciidoc.group(1);
            } else if (ASCIIDOC.contains(line) || markdown.matches()) {
                String end = markdown.matches() ? line.strip().substring(0, 3) : line;
                int begin = number + 1;
                StringBuilder code = new StringBuilder();
                while (true) {
                    if (!rest.hasNext()) {
                        throw new IllegalArgumentException(page + ":" + begin + ": the block does not end");
                    }
                    line = rest.next();
                    number++;
                    if (line.strip().equals(end)) {
                        break;
                    }
                    code.append(line).append('\n');
                }
                blocks.add(new Block(page, begin, markdown.matches() ? markdown.group(1) : language, code.toString()));
                language = "";
            }
        }
        return blocks;
    }

    /** Tells whether its first line begins with one of these words. */
    boolean begins(String... words) {
        for (String word : words) {
            if (code.stripLeading().startsWith(word)) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether a line matches. */
    boolean has(String line) {
        return Pattern.compile(line, Pattern.MULTILINE).matcher(code).find();
    }

    /**
     * Tells whether it is Java that declares something, and does not only call; or of the console, whose classes are not here to be
     * called.
     */
    boolean isQuoted() {
        return language.equals("java")
                && (page.equals(CONSOLE)
                        || begins(
                                "package ", "import ", "@", "class ", "public ", "protected ", "private ", "static "));
    }

    /** Tells whether it is a route, or several, in any of Camel's languages. */
    boolean isRoutes() {
        return switch (language) {
            case "java" -> !isQuoted() && has("^from\\(");
            case "yaml" -> begins("- route:", "- from:");
            case "xml" -> begins("<routes", "<route>");
            default -> false;
        };
    }

    /** Tells whether it is a route that imports, by the module for imports. */
    boolean imports() {
        return isRoutes() && has("\\b(operation=import|import\\.from)\\b");
    }

    @Override
    public String toString() {
        return page + ":" + line + " " + (language.isEmpty() ? "text" : language);
    }
}
