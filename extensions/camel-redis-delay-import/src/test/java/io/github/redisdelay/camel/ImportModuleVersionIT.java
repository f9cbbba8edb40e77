// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.imports.RedissonImports;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The component and the module in jars as they are published, in a JVM of their own. */
class ImportModuleVersionIT {

    @TempDir
    Path folder;

    @Test
    void should_use_the_module_of_its_own_version_only() throws Exception {
        assertThat(endpointWith("1.2.0", "1.2.0")).contains("accepted");
        assertThat(endpointWith("1.3.0", "1.2.0"))
                .contains(
                        "camel-redis-delay-import is of version 1.2.0, and camel-redis-delay of version 1.3.0: use the"
                                + " same version of both, as camel-redis-delay-bom has it");
    }

    /** Both POMs write the version where it is read. */
    @Test
    void should_have_the_version_in_each_manifest() throws IOException {
        assertThat(Files.readString(Path.of("../../pom.xml")))
                .contains("<Implementation-Version>${project.version}</Implementation-Version>");
    }

    private String endpointWith(String component, String module) throws Exception {
        String classPath = JavaCommand.classPath();
        Path first = jar(ImportModule.class, "component-", component);
        Path second = jar(RedissonImports.class, "module-", module);
        String others = Arrays.stream(classPath.split(File.pathSeparator))
                .filter(entry -> !isOf(ImportModule.class, entry) && !isOf(RedissonImports.class, entry))
                // They are checked in the same way, and have the version of the build.
                .filter(entry -> !entry.matches(".*camel-redis-delay-(micrometer|console)\\b.*"))
                .collect(Collectors.joining(File.pathSeparator));
        Process process = new ProcessBuilder(JavaCommand.of(
                        List.of(),
                        first + File.pathSeparator + second + File.pathSeparator + others,
                        ImportModuleVersionIT.class))
                .redirectErrorStream(true)
                .start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return said;
        } finally {
            process.destroyForcibly();
        }
    }

    private static Path classes(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static boolean isOf(Class<?> type, String entry) {
        try {
            return Files.exists(Path.of(entry)) && Files.isSameFile(classes(type), Path.of(entry));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Path jar(Class<?> type, String name, String version) throws Exception {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        Path jar = folder.resolve(name + version + ".jar");
        Path classes = classes(type);
        // Once it is packaged, Maven gives a jar in the place of the folder.
        try (FileSystem packaged = Files.isDirectory(classes) ? null : FileSystems.newFileSystem(classes)) {
            Path root = packaged == null ? classes : packaged.getPath("/");
            try (OutputStream out = Files.newOutputStream(jar);
                    JarOutputStream zip = new JarOutputStream(out, manifest);
                    Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String entry = root.relativize(file).toString().replace(File.separatorChar, '/');
                    if (!entry.equals(JarFile.MANIFEST_NAME)) {
                        zip.putNextEntry(new ZipEntry(entry));
                        Files.copy(file, zip);
                        zip.closeEntry();
                    }
                }
            }
        }
        return jar;
    }

    /** Makes an endpoint that imports. */
    public static void main(String[] arguments) throws Exception {
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.getEndpoint("redis-delay:a?operation=import&import.from=old&import.codec=raw");
            System.out.println("accepted");
        }
    }
}
