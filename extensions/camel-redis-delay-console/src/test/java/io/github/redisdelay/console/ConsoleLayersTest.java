// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The console's packages are floors, and it has nothing that the component does not bring. */
class ConsoleLayersTest {

    private static final String API = "io.github.redisdelay.console.api..";
    private static final String HTTP = "io.github.redisdelay.console.http..";
    private static final String SERVER = "io.github.redisdelay.console.server..";

    private static JavaClasses all;

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.github.redisdelay.console");
    }

    @Test
    void should_keep_the_views_free_of_http() {
        noClasses()
                .that()
                .resideInAPackage(API)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(HTTP, SERVER, "com.sun.net.httpserver..", "java.net.http..", "jakarta.servlet..")
                .check(all);
    }

    @Test
    void should_keep_what_answers_requests_free_of_servers() {
        noClasses()
                .that()
                .resideInAPackage(HTTP)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(SERVER, "com.sun.net.httpserver..", "jakarta.servlet..")
                .check(all);
        noClasses()
                .that()
                .resideInAPackage(HTTP)
                .should()
                .dependOnClassesThat(com.tngtech.archunit.base.DescribedPredicate.describe(
                        "of Camel, but for its JSON",
                        type -> type.getPackageName().startsWith("org.apache.camel.")
                                        && !type.getPackageName().equals("org.apache.camel.util.json")
                                || type.getPackageName().equals("org.apache.camel")))
                .check(all);
    }

    @Test
    void should_keep_doors_away_from_the_views() {
        noClasses()
                .that()
                .resideInAPackage(SERVER)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(API)
                .check(all);
    }

    @Test
    void should_use_only_what_the_component_brings() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "javax.crypto..",
                        "javax.management..",
                        "com.sun.net.httpserver..",
                        "jakarta.servlet..",
                        "io.github.redisdelay..",
                        "org.apache.camel..",
                        "org.redisson..",
                        "org.slf4j..")
                .check(all);
        // Loaded only where a servlet container has brought it.
        noClasses()
                .that()
                .haveNameNotMatching(".*\\.server\\.(ConsoleFilter|ServletCaller|Caller)")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("jakarta.servlet..")
                .check(all);
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.github.redisdelay.queue.internal..")
                .check(all);
    }

    @Test
    void should_make_nothing_of_bytes_and_load_no_class_by_a_name() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveNameMatching(
                        ".*\\.(ObjectInputStream|ObjectOutputStream|URLClassLoader|ProcessBuilder|ScriptEngine)")
                .check(all);
        noClasses().should().callMethod(Class.class, "forName", String.class).check(all);
        noClasses()
                .should()
                .callMethod(ClassLoader.class, "loadClass", String.class)
                .check(all);
    }

    @Test
    void should_have_no_circles_of_packages_below_the_entry() {
        SlicesRuleDefinition.slices()
                .matching("io.github.redisdelay.console.(*)..")
                .should()
                .beFreeOfCycles()
                .check(all);
    }
}
