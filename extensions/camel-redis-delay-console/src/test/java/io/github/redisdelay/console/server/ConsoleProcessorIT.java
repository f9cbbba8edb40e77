// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/** Behind {@code jetty:}. */
class ConsoleProcessorIT extends ProcessorIT {

    private final DefaultCamelContext context = new DefaultCamelContext();

    @Override
    protected void start(RouteBuilder routes) throws Exception {
        context.addRoutes(routes);
        context.start();
    }

    @Override
    protected String server() {
        return "jetty:http://0.0.0.0:" + port + BASE + "?matchOnUriPrefix=true";
    }

    @Override
    protected void stop() throws Exception {
        context.close();
    }
}
