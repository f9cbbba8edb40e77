// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.internal.redis.DurableScriptExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;

/** Keeps the layers apart, and some things out. */
class ArchitectureTest {

    private static final String QUEUE = "io.github.redisdelay.queue..";
    private static final String CAMEL = "io.github.redisdelay.camel..";

    static JavaClasses all;

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.github.redisdelay");
    }

    @Test
    void should_keep_the_queue_free_of_Camel() {
        noClasses()
                .that()
                .resideInAPackage(QUEUE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CAMEL, "org.apache.camel..")
                .because("the queue layer is usable on its own")
                .check(all);
    }

    @Test
    void should_have_only_few_dependencies_in_the_queue() {
        classes()
                .that()
                .resideInAPackage(QUEUE)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(QUEUE, "java..", "org.redisson..", "org.slf4j..", "com.cronutils..")
                .check(all);
    }

    @Test
    void should_never_make_objects_of_what_was_stored_by_their_class_names() {
        noClasses()
                .should()
                .dependOnClassesThat(assignableTo(java.io.ObjectInput.class)
                        .or(assignableTo(java.io.ObjectOutput.class))
                        .or(assignableTo(java.beans.XMLDecoder.class)))
                .orShould()
                .callMethod(Class.class, "forName", String.class)
                .orShould()
                .callMethod(ClassLoader.class, "loadClass", String.class)
                .because("what comes from Redis must not decide which classes are used (I8)")
                .check(all);
    }

    @Test
    void should_give_no_stored_bytes_to_a_codec_that_makes_objects() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.redisson.codec..")
                .check(all);
        classes()
                .should()
                .onlyDependOnClassesThat(not(assignableTo(org.redisson.client.codec.Codec.class))
                        .or(name(org.redisson.client.codec.ByteArrayCodec.class.getName()))
                        .or(name(org.redisson.client.codec.Codec.class.getName())))
                .because("scripts take and answer bytes")
                .check(all);
    }

    @Test
    void should_use_the_inside_of_Redisson_in_one_class_only() {
        noClasses()
                .that(not(nameMatching(Pattern.quote(DurableScriptExecutor.class.getName()) + "(\\$.*)?")))
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                                "org.redisson.command..", "org.redisson.connection..", "org.redisson.client.protocol..")
                        .or(resideInAPackage("org.redisson")
                                .and(not(belongToAnyOf(Redisson.class, RedissonShutdownException.class)))))
                .because("no release promises to keep it")
                .check(all);
    }

    @Test
    void should_not_name_Micrometer() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.micrometer..")
                .because("camel-redis-delay-micrometer does")
                .check(all);
    }

    @Test
    void should_not_sleep() {
        noClasses()
                .that(not(name(DelayQueueClient.class.getName()))) // close() waits a little for what is under way
                .should()
                .callMethodWhere(target(owner(assignableTo(Thread.class))).and(target(name("sleep"))))
                .orShould()
                .callMethodWhere(target(owner(assignableTo(TimeUnit.class))).and(target(name("sleep"))))
                .check(all);
    }
}
