// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.OptionValues;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The imports of an endpoint, by the module for them.
 *
 * @param module finds the module; is given what asks for it, for the error
 * @param operation makes the operation of a producer; null if that is another one
 */
record EndpointImports(
        ImportModule.Options options,
        Function<String, ImportModule> module,
        Function<ImportModule.Site, ImportModule.Operation> operation) {

    /** Checks the options of a producer. */
    static EndpointImports of(
            ImportModule.Options options, Function<String, ImportModule> module, RedisDelayOperation operation) {
        return new EndpointImports(
                options,
                module,
                operation == RedisDelayOperation.IMPORT
                        ? module.apply("option 'operation' is 'import'").operation(options)
                        : null);
    }

    /** The operation import of a producer that is started; null if its operation is another one. */
    ImportModule.Operation operation(Supplier<ImportModule.Site> site) {
        return operation == null ? null : operation.apply(site.get());
    }

    /** What a consumer imports while it runs, if it is started; null if it imports nothing. */
    Function<ImportModule.Site, ImportModule.Bridge> bridge() {
        return options.imports().keySet().stream()
                .findFirst()
                .map(option -> module.apply("option '" + ImportModule.PREFIX + OptionValues.shown(option) + "' is set")
                        .bridge(options))
                .orElse(null);
    }
}
