// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The sources of all modules, as far as pages speak of them. */
final class Sources {

    private static final Pattern STRING_OR_SPACE = Pattern.compile("(\"(?:[^\"\\\\\n]++|\\\\.)*+\")|\\s+");
    private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
    private static final Pattern PROFILE = Pattern.compile("<profile>.*?<id>(.*?)</id>", Pattern.DOTALL);
    private static final Pattern MODULES_OF_A_PROFILE = Pattern.compile(
            "<profile>(?:(?!</profile>).)*?<id>(\\w+)</id>\\s*<modules>(.*?)</modules>", Pattern.DOTALL);
    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>(.*?)</dependency>");
    private static final Pattern PROPERTY = Pattern.compile("\\$\\{([\\w.-]+)}");
    private static final Pattern VERSION = Pattern.compile("<version>(.*?)</version>");
    private static final Pattern RELEASE = Pattern.compile("(?m)^## \\[([0-9.]+)]");

    private final Map<Path, String> java = new TreeMap<>(); // without space
    private final Map<String, String> poms = new HashMap<>(); // by module
    private final List<Properties> applications = new ArrayList<>();
    private final String changelog;

    Sources(Path root) throws IOException {
        changelog = Files.readString(root.resolve("CHANGELOG.md"));
        poms.put("", Files.readString(root.resolve("pom.xml")));
        for (MatchResult found : MODULE.matcher(poms.get("")).results().toList()) {
            Path module = root.resolve(found.group(1));
            poms.put(module.getFileName().toString(), Files.readString(module.resolve("pom.xml")));
            if (Files.isDirectory(module.resolve("src"))) {
                read(module.resolve("src"));
            }
        }
    }

    private void read(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (file.toString().endsWith(".java")) {
                    java.put(file, withoutSpace(Files.readString(file)));
                } else if (file.endsWith("application.properties")) {
                    Properties properties = new Properties();
                    try (Reader reader = Files.newBufferedReader(file)) {
                        properties.load(reader);
                    }
                    applications.add(properties);
                }
            }
        }
    }

    /** White space outside of strings does not matter: the sources are formatted by a tool, the pages for readers. */
    private static String withoutSpace(String code) {
        return STRING_OR_SPACE
                .matcher(code)
                .replaceAll(match -> match.group(1) == null ? "" : Matcher.quoteReplacement(match.group(1)));
    }

    /** The Java files that have this code; where it says {@code // the tests}, they have some. */
    List<Path> quotedIn(String code) {
        List<String> parts = Stream.of(code.split("// the tests\n"))
                .map(Sources::withoutSpace)
                .toList();
        return java.entrySet().stream()
                .filter(file -> hasInOrder(file.getValue(), parts))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean hasInOrder(String text, List<String> parts) {
        int from = 0;
        for (String part : parts) {
            int found = text.indexOf(part, from);
            if (found < 0) {
                return false;
            }
            from = found + part.length();
        }
        return true;
    }

    /** Their names. */
    Set<String> modules() {
        Set<String> modules = new TreeSet<>(poms.keySet());
        modules.remove("");
        return modules;
    }

    /** The version of all modules in this build. */
    String version() {
        Matcher version = VERSION.matcher(poms.get(""));
        version.find();
        return version.group(1);
    }

    /** The version that pages name: the last release, or as long as there is none, that of this build. */
    String versionOfPages() {
        Matcher release = RELEASE.matcher(changelog);
        return release.find() ? release.group(1) : version();
    }

    /** The dependencies of all modules, and those whose versions they manage: the inside of each {@code dependency}, without space, with the values of properties. */
    Set<String> dependencies() {
        Set<String> dependencies = new TreeSet<>();
        for (String pom : poms.values()) {
            DEPENDENCY
                    .matcher(withoutSpace(pom))
                    .results()
                    .forEach(found -> dependencies.add(PROPERTY.matcher(found.group(1))
                            .replaceAll(named -> Matcher.quoteReplacement(property(pom, named.group(1))))));
        }
        return dependencies;
    }

    /** The value of a property, of a module or else of the root. */
    private String property(String pom, String name) {
        Pattern value = Pattern.compile("<" + Pattern.quote(name) + ">(.*?)</");
        return Stream.of(pom, poms.get(""))
                .map(value::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst()
                .orElse("${" + name + "}");
    }

    /** Tells whether a folder, from the root, is that of a module. */
    boolean hasModuleIn(String folder) {
        return MODULE.matcher(poms.get("")).results().anyMatch(match -> match.group(1)
                .equals(folder));
    }

    /** The profile of the root that adds a module to the build, if one has to. */
    Optional<String> profileOf(String module) {
        return MODULES_OF_A_PROFILE
                .matcher(poms.get(""))
                .results()
                .filter(match -> match.group(2).contains("/" + module + "</module>"))
                .map(match -> match.group(1))
                .findFirst();
    }

    /** The ids of the profiles of all modules. */
    Set<String> profiles() {
        Set<String> profiles = new TreeSet<>();
        poms.values().forEach(pom -> PROFILE.matcher(pom).results().forEach(match -> profiles.add(match.group(1))));
        return profiles;
    }

    /** Tells whether there is a class. @param name with its package, or without; {@code *} stands for any part of a name */
    boolean hasClass(String name) {
        return !classes(name).isEmpty();
    }

    /** Tells whether a class has a method. @param method its name; {@code *} stands for any part of it */
    boolean hasMethod(String name, String method) {
        Pattern declaration = Pattern.compile("void" + method.replace("*", "\\w*") + "\\(");
        return classes(name).stream()
                .anyMatch(file -> declaration.matcher(java.get(file)).find());
    }

    private List<Path> classes(String name) {
        Pattern end =
                Pattern.compile("/" + name.replace('.', '/').replace("$", "\\$").replace("*", "\\w*") + "\\.java$");
        return java.keySet().stream()
                .filter(file -> end.matcher(file.toString()).find())
                .toList();
    }

    /** Each {@code application.properties}. */
    List<Properties> applications() {
        return applications;
    }
}
