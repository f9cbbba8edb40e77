// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import java.util.Optional;
import org.apache.camel.CamelContext;

/** Finds what another artifact of this project brings, of the same version only: it uses what is not public. */
public final class OwnModule {

    private OwnModule() {}

    /**
     * Makes the object of an artifact, by the file of its name in {@code META-INF/services/org/apache/camel}, such as {@code
     * redis-delay-import}.
     *
     * @param type what it has to be
     * @return empty if the artifact is not on the class path
     * @throws IllegalStateException if it is of another version than the component
     */
    public static <T> Optional<T> find(CamelContext context, String artifact, Class<T> type) {
        return context.getCamelContextExtension()
                .getDefaultFactoryFinder()
                .findClass(artifact.substring("camel-".length()))
                .map(found -> {
                    checkVersion(artifact, found, type);
                    return type.cast(context.getInjector().newInstance(found));
                });
    }

    private static void checkVersion(String artifact, Class<?> type, Class<?> ofComponent) {
        String own = ofComponent.getPackage().getImplementationVersion();
        String found = type.getPackage().getImplementationVersion();
        if (own != null && found != null && !own.equals(found)) {
            throw new IllegalStateException(artifact + " is of version " + found + ", and camel-redis-delay of version "
                    + own + ": use the same version of both, as camel-redis-delay-bom has it");
        }
    }
}
