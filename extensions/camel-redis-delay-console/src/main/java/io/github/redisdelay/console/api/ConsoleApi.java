// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.ConsoleOptions;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** The views of queues and the actions on them. A member that is null, and an empty list, mean that there is none. Thread-safe. */
public final class ConsoleApi {

    private final Supplier<List<QueueSource>> sources;
    private final ConsoleOptions options;

    /** @param sources is asked with each call */
    public ConsoleApi(Supplier<List<QueueSource>> sources, ConsoleOptions options) {
        this.sources = Objects.requireNonNull(sources, "sources");
        this.options = options;
    }

    /** The console, and what a visitor may do here. */
    public record Me(
            String version,
            String environment,
            String user,
            boolean readOnly,
            String readOnlyBecause,
            List<String> actions,
            boolean bodies) {}

    /** What a visitor may do here, in any queue. */
    public Me me(Visitor visitor) {
        List<QueueSource> all = sources.get();
        List<String> actions = all.stream()
                .flatMap(source -> source.partitions().keySet().stream())
                .flatMap(queue -> visitor.actions(queue).stream())
                .distinct()
                .sorted()
                .map(ConsoleAction::code)
                .toList();
        String because = visitor.readOnly()
                ? "This console changes nothing: it was started without actions."
                : actions.isEmpty() ? "You may look, but change nothing." : null;
        return new Me(
                version(), options.environment(), visitor.user(), because != null, because, actions, options.bodies());
    }

    private static String version() {
        String version = ConsoleApi.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** Ends what runs in the background. */
    public void close() {}
}
