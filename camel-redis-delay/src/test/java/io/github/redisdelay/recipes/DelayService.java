// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import java.net.URI;
import java.util.Set;
import org.apache.camel.Header;
import org.apache.camel.ValidationException;
import org.apache.camel.builder.RouteBuilder;

/** Offers delays to other systems by HTTP: keeps what they send, and calls them back when it is due. */
final class DelayService extends RouteBuilder {

    // tag::routes[]
    public record Callbacks(Set<String> origins) { // such as https://shop.example and https://crm.example:8443
        public void check(@Header("url") String url) {
            URI uri = URI.create(String.valueOf(url));
            if (!origins.contains(uri.getScheme() + "://" + uri.getRawAuthority())) {
                throw new IllegalArgumentException("url is '" + url + "': it must be at one of " + origins);
            }
        }
    }
    // end::routes[]

    @Override
    public void configure() {
        // tag::routes[]
        rest("/messages")
                .post("/{topic}/{id}")
                .to("direct:add") // ?url=https://... and &delay=30m or &at=2030-01-31T10:15:00Z
                .delete("/{topic}/{id}")
                .to("direct:cancel");

        from("direct:add")
                .onException(IllegalArgumentException.class, ValidationException.class)
                .handled(true)
                .removeHeaders("*")
                .setHeader("CamelHttpResponseCode", constant(400))
                .setBody(exceptionMessage()) // says what is wrong, and what would be right
                .end()
                .validate(header("topic").regex("[a-z0-9-]{1,40}"))
                .to("bean:callbacks?method=check")
                .setHeader("CamelRedisDelayScheduleId", simple("${header.topic}/${header.id}"))
                .choice()
                .when(header("at").isNotNull())
                .setHeader("CamelRedisDelayDeliverAt", header("at"))
                .otherwise()
                .setHeader("CamelRedisDelayDelay", header("delay")) // missing: an error that says so
                .end()
                .removeHeaders(
                        "*",
                        "CamelRedisDelayScheduleId",
                        "CamelRedisDelayDeliverAt",
                        "CamelRedisDelayDelay",
                        "topic",
                        "id",
                        "url",
                        "Content-Type")
                .to("redis-delay:callbacks?onDuplicate=ignore&deduplicationPeriod=24h")
                .setBody(header("CamelRedisDelayDueTime").convertToString()) // milliseconds since 1970
                .removeHeaders("*");

        from("direct:cancel")
                .setHeader("CamelRedisDelayScheduleId", simple("${header.topic}/${header.id}"))
                .removeHeaders("*", "CamelRedisDelayScheduleId")
                .to("redis-delay:callbacks?operation=cancel")
                .setBody(header("CamelRedisDelayPreviousState")) // delayed: in time; leased: being sent; dead; none
                .removeHeaders("*");

        from("redis-delay:callbacks?redeliveryDelays=15s,3m,10m,30m,30m,1h,2h,6h,15h&concurrentConsumers=8")
                .to("bean:callbacks?method=check") // once more: others may write to the queue
                .setHeader("CamelHttpUri", header("url"))
                .removeHeader("url")
                // fails unless the answer is 2xx
                .to("http:callback?httpMethod=POST&httpClientConfigurer=#oneTry&responseTimeout=10000");
        // end::routes[]
    }
}
