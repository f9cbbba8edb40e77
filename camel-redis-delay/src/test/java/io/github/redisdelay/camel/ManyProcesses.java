// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/**
 * The commands of {@link JavaCommand}, for tests that start many processes: these share an archive of the JVM with the
 * classes that they load, which saves a third of the CPU time of a start. It is made once, in the module's
 * {@code target}; where that fails they do without.
 */
public final class ManyProcesses {

    private static List<String> options; // guarded by the class

    private ManyProcesses() {}

    /** Starts a program with the class path of this JVM: its jars, and then its folders, which no archive can have. */
    public static List<String> command(Class<?> program, String... arguments) {
        Map<Boolean, String> parts = Stream.of(JavaCommand.classPath().split(File.pathSeparator))
                .collect(Collectors.partitioningBy(
                        part -> part.endsWith(".jar"), Collectors.joining(File.pathSeparator)));
        String jars = parts.get(true);
        return JavaCommand.of(options(jars), jars + File.pathSeparator + parts.get(false), program, arguments);
    }

    private static synchronized List<String> options(String jars) {
        if (options == null) {
            Path archive = Path.of("target", "classes-" + Integer.toHexString(jars.hashCode()) + ".jsa")
                    .toAbsolutePath();
            try (FileChannel file = FileChannel.open(
                            Path.of(archive + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock alone = file.lock()) { // among the JVMs that run tests
                boolean there = isNewer(archive, jars) || make(archive, jars);
                options = there ? List.of("-XX:SharedArchiveFile=" + archive) : List.of();
            } catch (IOException e) {
                options = List.of();
            }
        }
        return options;
    }

    /** A JVM takes no archive of a jar that was written anew. */
    private static boolean isNewer(Path archive, String jars) {
        long made = archive.toFile().lastModified();
        return Stream.of(jars.split(File.pathSeparator)).allMatch(jar -> new File(jar).lastModified() < made);
    }

    private static boolean make(Path archive, String jars) throws IOException {
        Path made = Path.of(archive + ".new");
        Process process = new ProcessBuilder(
                        JavaCommand.of(List.of("-XX:ArchiveClassesAtExit=" + made), jars, ManyProcesses.class))
                .redirectErrorStream(true)
                .redirectOutput(Path.of(archive + ".log").toFile())
                .start();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0 || !Files.exists(made)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            process.destroyForcibly();
        }
        Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
        return true;
    }

    /** Loads what most processes load. */
    public static void main(String[] arguments) throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                DefaultCamelContext context = new DefaultCamelContext()) {
            context.disableJMX();
            String uri = "redis-delay:orders?address=" + server.address();
            CountDownLatch received = new CountDownLatch(1);
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from(uri).delay(1).process(exchange -> received.countDown());
                    from("timer:orders?repeatCount=1&delay=0").to(uri);
                }
            });
            context.start();
            received.await();
        }
        System.exit(0);
    }
}
