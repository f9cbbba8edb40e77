// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Writes many messages into a database in one go. */
final class BatchInsert extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:measured").to("redis-delay:measurements?delay=1m");

        from("redis-delay:measurements?batching=true&batchSize=200&batchTimeout=2s&maximumRedeliveries=3")
                .to("bean:database?method=insertAll"); // a List of Messages: one statement, one transaction
        // end::routes[]
    }
}
