// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.imports.ImportConverter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.PropertyBindingSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The options of imports, on the endpoint and on the component. */
class ImportOptionsTest {

    private static final String OPERATION = "redis-delay:a?operation=import&import.from=old";
    private static final String BOTH = "options 'import.codec' and 'import.converter' are both set";

    private final DefaultCamelContext context = new DefaultCamelContext();

    @BeforeEach
    void bind() {
        context.getRegistry().bind("own", (ImportConverter) payload -> null);
    }

    @AfterEach
    void close() {
        context.stop();
    }

    private RedisDelayConfiguration defaults() {
        return context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private void accept(String options) {
        assertThat(context.getEndpoint(OPERATION + options)).isNotNull();
    }

    private void refuse(String options, String why) {
        assertThatThrownBy(() -> context.getEndpoint(OPERATION + options)).hasStackTraceContaining(why);
    }

    @Test
    void should_let_the_endpoints_converter_replace_the_components_codec_and_the_other_way_round() {
        accept("&import.codec=kryo5");
        refuse("", "option 'import.codec' is not set");
        defaults().getImportOptions().put("codec", "kryo5");
        accept("");
        accept("&import.converter=#own");
        accept("&import.converter=#bean:own");
        defaults().getImportOptions().clear();
        defaults().getImportOptions().put("converter", context.getRegistry().lookupByName("own"));
        accept("&import.id=body");
        accept("&import.codec=raw");
        refuse("&import.codec=raw&import.converter=#own", BOTH);
    }

    /** As Camel Main and Spring Boot bind properties. */
    @Test
    void should_take_the_components_defaults_from_properties() {
        RedisDelayComponent component = context.getComponent("redis-delay", RedisDelayComponent.class);
        PropertyBindingSupport.build()
                .withConfigurer(component.getComponentPropertyConfigurer())
                .withProperty("importOptions[codec]", "json")
                .withProperty("import-options[on-error]", "raw")
                .withIgnoreCase(true)
                .withCamelContext(context)
                .withTarget(component)
                .bind();
        assertThat(defaults().getImportOptions())
                .containsOnly(Map.entry("codec", "json"), Map.entry("on-error", "raw"));
        accept("");
        defaults().getImportOptions().put("on-error", "x");
        refuse("&import.id=none", "option 'import.onError' 'x' is unknown: use leave, raw");
    }

    @Test
    void should_take_names_in_any_letter_case() {
        accept("&import.CODEC=json&import.ONerror=raw&import.DryRun=TRUE");
        refuse("&import.CODEC=json&import.converter=#own", BOTH);
    }

    @Test
    void should_name_an_option_that_there_is_not_and_a_bean_that_is_none() {
        refuse(
                "&import.codek=raw",
                "option 'import.codek' is unknown: there are from, codec, converter, id, onError, ahead, dryRun");
        context.getRegistry().bind("other", "text");
        for (String name : new String[] {"#other", "#none", "own"}) {
            refuse("&import.converter=" + name, "it must name a bean that is an ImportConverter, such as #orders");
        }
        refuse(
                "&import.codec=raw&import.dryRun=perhaps",
                "option 'import.dryRun' is 'perhaps': it must be true or false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"from", "codec", "converter", "id", "onError", "ahead", "dryRun", "none", "a\u0085b"})
    void should_show_no_control_characters(String option) {
        String value = URLEncoder.encode("a\t\n\u0085b", StandardCharsets.UTF_8);
        String name = URLEncoder.encode(option, StandardCharsets.UTF_8);
        String uri = "redis-delay:a?operation=import&import.dryRun=true&import.from=old&import." + name + "=" + value;
        try {
            context.getEndpoint(uri);
        } catch (org.apache.camel.ResolveEndpointFailedException e) {
            assertThat(e.getCause().getMessage()).doesNotContainPattern("\\p{Cc}");
        }
    }
}
