// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import org.apache.camel.builder.RouteBuilder;

/** Notifies a partner by steps until it answers 200. */
final class PartnerNotification extends RouteBuilder {

    @Override
    public void configure() {
        // tag::routes[]
        from("direct:notifyPartner") // the body is the notification, the header partnerUrl says where it goes
                .to("redis-delay:notify");

        from("redis-delay:notify?redeliveryDelays=15s,3m,10m,30m,30m,1h,2h,6h,15h&concurrentConsumers=8")
                .setProperty("partnerUrl", header("partnerUrl"))
                .removeHeaders("*") // or the partner gets them
                .setHeader("CamelHttpUri", exchangeProperty("partnerUrl"))
                .to(
                        "http:partner?httpMethod=POST&throwExceptionOnFailure=false&httpClientConfigurer=#oneTry&responseTimeout=10000")
                .choice()
                .when(simple("${header.CamelHttpResponseCode} == 200"))
                .log("${exchangeProperty.partnerUrl} was notified")
                .when(simple("${header.CamelHttpResponseCode} == 429 && ${header.Retry-After} regex '[0-9]{1,5}'"))
                .setHeader("CamelRedisDelayRetryAfter", simple("${header.Retry-After}s"))
                .otherwise()
                .throwException(IllegalStateException.class, "the partner answered ${header.CamelHttpResponseCode}")
                .end();

        from("redis-delay:notify?state=dead") // what was given up: no answer 200 for a day
                .to("bean:partners?method=unreachable(${body}, ${header.CamelRedisDelayFailureMessage})");
        // end::routes[]
    }
}
