// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.imports.RedissonImports;
import java.net.URL;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rules for the component, with the module for imports. */
public class ImportArchitectureTest extends ArchitectureTest {

    @BeforeAll
    static void readBoth() {
        all = both();
    }

    /** The classes of both, and none of tests. */
    public static JavaClasses both() {
        return new ClassFileImporter()
                .importUrls(List.of(location(RedissonImports.class), location(RedisDelayComponent.class)));
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    @Test
    void should_import_without_Camel() {
        classes()
                .that()
                .resideInAPackage("io.github.redisdelay.imports.queue..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("io.github.redisdelay.imports.queue..", "io.github.redisdelay.queue..", "java..")
                .check(all);
    }

    @Test
    void should_have_a_component_that_knows_nothing_of_the_module() {
        noClasses()
                .that()
                .resideInAnyPackage("io.github.redisdelay.camel..", "io.github.redisdelay.queue..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.github.redisdelay.imports..")
                .check(all);
    }
}
