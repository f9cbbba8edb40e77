// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.originOwner;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.github.redisdelay.camel.monitor.Meters;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Calls that no code of ours uses, because they make objects, classes or code of data. {@link ArchitectureTest} has more. */
class CodeSecurityIT {

    static JavaClasses all;

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.github.redisdelay.queue", "io.github.redisdelay.camel");
    }

    private static DescribedPredicate<HasName> oneOf(String names) {
        return DescribedPredicate.describe(
                "one of " + names, named -> named.getName().matches(names));
    }

    @Test
    void should_use_nothing_that_makes_objects_of_bytes_or_looks_them_up_by_name() {
        ArchRule rule = noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "javax.naming..",
                        "java.rmi..",
                        "javax.script..",
                        "java.beans..",
                        "sun..",
                        "com.sun..",
                        "com.esotericsoftware..",
                        "org.nustaq..",
                        "org.jboss.marshalling..",
                        "org.yaml..",
                        "com.fasterxml..",
                        "tools.jackson..")
                .because("what comes from Redis must not decide which classes are used");
        rule.check(all);
    }

    @Test
    void should_load_no_class_by_a_name() {
        noClasses()
                .should()
                .callMethodWhere(target(owner(isA("java.lang.Class"))).and(target(oneOf("forName"))))
                .orShould()
                .callMethodWhere(target(oneOf("loadClass|defineClass|resolveClass|resolveMandatoryClass"))
                        // By one name that is written there: whether Micrometer is on the class path.
                        .and(not(originOwner(equivalentTo(Meters.class)))))
                .orShould()
                .callMethodWhere(target(owner(isA("java.lang.invoke.MethodHandles$Lookup")))
                        .and(target(oneOf("findClass|defineHiddenClass"))))
                .orShould()
                .callMethodWhere(target(owner(isA("java.lang.Runtime"))).and(target(name("exec"))))
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.ProcessBuilder")
                .because("what comes from Redis must not decide which classes are used")
                .check(all);
    }

    @Test
    void should_use_none_of_what_camel_has_for_java_serialization() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveNameMatching(
                        ".*\\.(DefaultExchangeHolder|CamelObjectInputStream|DeserializationFilterHelper|ObjectInputStream|ObjectOutputStream)")
                .check(all);
    }

    /** Only the component's own configuration decides about a file that is read. */
    @Test
    void should_read_a_configuration_of_redissons_in_one_place() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("io.github.redisdelay.camel.connection.RedisConnection")
                .should()
                .callMethodWhere(
                        target(owner(isA("org.redisson.config.Config"))).and(target(oneOf("from(YAML|JSON)"))))
                .check(all);
    }

    private static DescribedPredicate<JavaClass> isA(String className) {
        return DescribedPredicate.describe(className, type -> type.getName().equals(className));
    }
}
