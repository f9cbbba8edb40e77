// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Indexes a document when it has not changed for ten seconds. */
final class Debounce extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:documentChanged") // the body is the document's id
                .setHeader("CamelRedisDelayScheduleId", body())
                .to("redis-delay:index?delay=10s&onDuplicate=replace");

        from("redis-delay:index").to("bean:searchIndex?method=update"); // reads the document as it is now
        // end::routes[]
    }
}
