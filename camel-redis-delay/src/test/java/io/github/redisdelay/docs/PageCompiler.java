// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import io.github.redisdelay.testkit.JavaCommand;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles the Java blocks of pages, all in one go, each to a {@link PageCode} of its own. */
final class PageCompiler {

    /** On one line, so that the second line of the source is the first one of the block. */
    private static final String BEFORE =
            "package page; import java.io.*; import java.net.*; import java.time.*; import java.util.*;"
                    + " import java.util.concurrent.*; import static java.nio.charset.StandardCharsets.UTF_8;"
                    + " import org.apache.camel.*; import org.apache.camel.http.base.*;"
                    + " import org.apache.camel.processor.aggregate.*; import org.apache.camel.support.jsse.*;"
                    + " import io.github.redisdelay.camel.*; import io.github.redisdelay.queue.*;"
                    + " import io.github.redisdelay.queue.DelayQueue; import io.github.redisdelay.queue.client.*;"
                    + " import io.github.redisdelay.queue.envelope.*;"
                    + " import io.github.redisdelay.queue.exception.*;"
                    + " import io.github.redisdelay.example.Order;"
                    + " import org.redisson.api.RScoredSortedSet; import org.redisson.client.codec.StringCodec;"
                    + " import org.redisson.client.protocol.ScoredEntry;"
                    + " public class %s extends io.github.redisdelay.docs.PageCode {"
                    + " public void %s() throws Exception {\n";

    /** The class that the pages' routes unmarshal. */
    private static final Path ORDER =
            Block.ROOT.resolve("camel-redis-delay-example/src/main/java/io/github/redisdelay/example/Order.java");

    private final ClassLoader loader;

    /** @throws AssertionError with the pages' lines that do not compile */
    PageCompiler(List<Block> blocks, Path folder) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            Map<JavaFileObject, Block> sources = new HashMap<>();
            blocks.stream()
                    .filter(PageCompiler::compiles)
                    .forEach(block -> sources.put(new Source(className(block), source(block)), block));
            List<JavaFileObject> units = new ArrayList<>(sources.keySet());
            files.getJavaFileObjects(ORDER).forEach(units::add);
            List<String> options = List.of("-proc:none", "-d", folder.toString(), "-classpath", classPath());
            if (!compiler.getTask(null, files, found, options, null, units).call()) {
                throw new AssertionError(String.join("\n", errors(found, sources)));
            }
        }
        loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, PageCompiler.class.getClassLoader());
    }

    static boolean compiles(Block block) {
        return block.language().equals("java") && !block.isQuoted();
    }

    private static String className(Block block) {
        return block.page().replaceAll("\\W", "_") + "_" + block.line();
    }

    private static String source(Block block) {
        return BEFORE.formatted(className(block), block.isRoutes() ? "configure" : "call") + block.code() + "}}";
    }

    /** Surefire puts the real one beside a jar that only names it. */
    private static String classPath() {
        return JavaCommand.classPath();
    }

    private static List<String> errors(DiagnosticCollector<JavaFileObject> found, Map<JavaFileObject, Block> sources) {
        List<String> errors = new ArrayList<>();
        for (Diagnostic<? extends JavaFileObject> diagnostic : found.getDiagnostics()) {
            if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
                Block block = sources.get(diagnostic.getSource());
                String where = block == null
                        ? String.valueOf(diagnostic.getSource())
                        : block.page() + ":" + (block.line() + diagnostic.getLineNumber() - 2);
                errors.add(where + ": " + diagnostic.getMessage(null));
            }
        }
        return errors;
    }

    PageCode code(Block block) throws ReflectiveOperationException {
        return (PageCode) loader.loadClass("page." + className(block))
                .getDeclaredConstructor()
                .newInstance();
    }

    ClassLoader loader() {
        return loader;
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String code;

        Source(String name, String code) {
            super(URI.create("string:///page/" + name + ".java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}
