// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.option.OwnHeaders;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.spi.annotations.SendDynamic;
import org.apache.camel.support.component.SendDynamicAwareSupport;
import org.apache.camel.util.URISupport;

/**
 * Makes one endpoint of the URIs of {@code toD} that differ only in what each message has of its own, such as its delay. These
 * options travel as headers. A header that the message has wins over them, as over any option.
 */
@SendDynamic("redis-delay")
public class RedisDelaySendDynamicAware extends SendDynamicAwareSupport {

    /** The options that become headers. */
    private static final Map<String, String> HEADERS = Map.of(
            "delay", RedisDelayConstants.DELAY,
            "deliverAt", RedisDelayConstants.DELIVER_AT,
            "priority", RedisDelayConstants.PRIORITY,
            "group", RedisDelayConstants.GROUP,
            "timeToLive", RedisDelayConstants.TIME_TO_LIVE,
            "deduplicationPeriod", RedisDelayConstants.DEDUPLICATION_PERIOD,
            "every", RedisDelayConstants.EVERY,
            "cron", RedisDelayConstants.CRON,
            "timeZone", RedisDelayConstants.TIME_ZONE);

    /**
     * The headers of the step under way, an exchange property.
     *
     * @param outer that of the step in which this one is, as that of an interceptor; else null
     */
    private record Step(String endpointUri, Map<String, Object> headers, Object outer) {}

    @Override
    public boolean isLenientProperties() {
        return false;
    }

    /** Returns null where the URI is to be used as it is. */
    @Override
    public DynamicAwareEntry prepare(Exchange exchange, String uri, String originalUri) throws Exception {
        String query = URISupport.extractQuery(uri);
        if (query == null || query.contains(URISupport.RAW_TOKEN_PREFIX)) {
            return null;
        }
        Map<String, Object> options = URISupport.parseQuery(query);
        options.keySet().retainAll(HEADERS.keySet());
        String rest = Arrays.stream(query.split("&"))
                .filter(option -> !HEADERS.containsKey(option.replaceFirst("=.*", "")))
                .collect(Collectors.joining("&"));
        return options.isEmpty()
                ? null
                : new DynamicAwareEntry(
                        URISupport.stripQuery(uri) + (rest.isEmpty() ? "" : "?" + rest), originalUri, options, null);
    }

    @Override
    public String resolveStaticUri(Exchange exchange, DynamicAwareEntry entry) {
        return entry.getUri();
    }

    @Override
    public Processor createPreProcessor(Exchange exchange, DynamicAwareEntry entry) {
        return each -> each.setProperty(
                OwnHeaders.STEP_OPTIONS,
                new Step(
                        each.getProperty(ExchangePropertyKey.TO_ENDPOINT, String.class),
                        headers(each.getMessage(), entry.getProperties()),
                        each.getProperty(OwnHeaders.STEP_OPTIONS)));
    }

    /** Removes the headers also where the step has failed. */
    @Override
    public Processor createPostProcessor(Exchange exchange, DynamicAwareEntry entry) {
        return each -> {
            if (each.removeProperty(OwnHeaders.STEP_OPTIONS) instanceof Step step) {
                step.headers().keySet().forEach(each.getMessage()::removeHeader);
                if (step.outer() != null) {
                    each.setProperty(OwnHeaders.STEP_OPTIONS, step.outer());
                }
            }
        };
    }

    /** Sets the headers that a step brings for this endpoint. An interceptor may send the exchange to others first. */
    static void setHeaders(Exchange exchange, String endpointUri) {
        if (exchange.getProperty(OwnHeaders.STEP_OPTIONS) instanceof Step step
                && endpointUri.equals(step.endpointUri())) {
            step.headers().forEach(exchange.getMessage()::setHeader);
        }
    }

    private static Map<String, Object> headers(Message message, Map<String, Object> options) {
        Map<String, Object> own = message.getHeaders();
        Map<String, Object> headers = new HashMap<>();
        options.forEach((option, value) -> headers.put(HEADERS.get(option), value));
        if (own.containsKey(RedisDelayConstants.DELAY) || own.containsKey(RedisDelayConstants.DELIVER_AT)) {
            headers.remove(RedisDelayConstants.DELAY);
            headers.remove(RedisDelayConstants.DELIVER_AT);
        }
        if (own.containsKey(RedisDelayConstants.EVERY) || own.containsKey(RedisDelayConstants.CRON)) {
            headers.remove(RedisDelayConstants.EVERY);
            headers.remove(RedisDelayConstants.CRON);
        }
        headers.keySet().removeIf(own::containsKey);
        return headers;
    }
}
