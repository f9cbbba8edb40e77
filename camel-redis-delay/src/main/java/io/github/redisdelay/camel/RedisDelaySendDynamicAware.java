// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.camel.producer.ScheduleHeaders;
import io.github.redisdelay.queue.ScheduleRequest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.ExchangePropertyKey;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.spi.SendDynamicAware;
import org.apache.camel.spi.annotations.SendDynamic;
import org.apache.camel.support.service.ServiceSupport;
import org.apache.camel.util.URISupport;

/**
 * Makes one endpoint of the URIs of {@code toD} that differ only in what each message has of its own, such as its delay. These
 * options travel as headers. A header that the message has wins over them, as over any option.
 */
@SendDynamic("redis-delay")
public class RedisDelaySendDynamicAware extends ServiceSupport implements SendDynamicAware {

    /** The options that become headers of the same names. */
    private static final Set<String> OPTIONS =
            Set.of("delay", "deliverAt", "priority", "timeToLive", "deduplicationPeriod");

    private String scheme;
    private CamelContext context;

    @Override
    public String getScheme() {
        return scheme;
    }

    @Override
    public void setScheme(String scheme) {
        this.scheme = scheme;
    }

    @Override
    public CamelContext getCamelContext() {
        return context;
    }

    @Override
    public void setCamelContext(CamelContext context) {
        this.context = context;
    }

    @Override
    public boolean isLenientProperties() {
        return false;
    }

    /** Returns null where the URI is to be used as it is: it has none of these options, or the endpoint will refuse one. */
    @Override
    public DynamicAwareEntry prepare(Exchange exchange, String uri, String originalUri) throws Exception {
        String query = URISupport.extractQuery(uri);
        if (query == null || query.contains(URISupport.RAW_TOKEN_PREFIX)) {
            return null;
        }
        Map<String, Object> options = URISupport.parseQuery(query);
        options.keySet().retainAll(OPTIONS);
        if (options.isEmpty() || !areValid(options)) {
            return null;
        }
        String rest = Arrays.stream(query.split("&"))
                .filter(option -> !OPTIONS.contains(option.replaceFirst("=.*", "")))
                .collect(Collectors.joining("&"));
        return new DynamicAwareEntry(
                URISupport.stripQuery(uri) + (rest.isEmpty() ? "" : "?" + rest), originalUri, options, null);
    }

    private static boolean areValid(Map<String, Object> options) {
        try {
            ScheduleHeaders.due("", options.get("delay"), "", options.get("deliverAt"));
            for (String option : new String[] {"timeToLive", "deduplicationPeriod"}) {
                if (options.containsKey(option)) {
                    Durations.positive("", options.get(option), "");
                }
            }
            if (options.containsKey("priority")) {
                OptionValues.wholeNumber("", options.get("priority"), 0, ScheduleRequest.MAX_PRIORITY, "");
            }
            return true;
        } catch (IllegalArgumentException e) {
            return false; // the endpoint's error names the option
        }
    }

    @Override
    public String resolveStaticUri(Exchange exchange, DynamicAwareEntry entry) {
        return entry.getUri();
    }

    /**
     * The options of the step under way, an exchange property.
     *
     * @param taken the headers that the producer has set
     * @param outer that of the step in which this one is, as that of an interceptor; else null
     */
    private record Step(String endpointUri, Map<String, Object> options, Set<String> taken, Object outer) {}

    @Override
    public Processor createPreProcessor(Exchange exchange, DynamicAwareEntry entry) {
        return each -> each.setProperty(
                OwnHeaders.STEP_OPTIONS,
                new Step(
                        each.getProperty(ExchangePropertyKey.TO_ENDPOINT, String.class),
                        entry.getProperties(),
                        new HashSet<>(),
                        each.getProperty(OwnHeaders.STEP_OPTIONS)));
    }

    /** Removes the headers also where the step has failed. */
    @Override
    public Processor createPostProcessor(Exchange exchange, DynamicAwareEntry entry) {
        return each -> {
            if (each.removeProperty(OwnHeaders.STEP_OPTIONS) instanceof Step step) {
                step.taken().forEach(each.getMessage()::removeHeader);
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
            Map<String, Object> headers = headers(exchange.getMessage(), step.options());
            headers.forEach(exchange.getMessage()::setHeader);
            step.taken().addAll(headers.keySet());
        }
    }

    private static Map<String, Object> headers(Message message, Map<String, Object> options) {
        Set<String> own = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        own.addAll(message.getHeaders().keySet());
        Map<String, Object> headers = new HashMap<>();
        options.forEach((option, value) -> headers.put(OwnHeaders.ofOption(option), value));
        if (own.contains(RedisDelayConstants.DELAY) || own.contains(RedisDelayConstants.DELIVER_AT)) {
            headers.remove(RedisDelayConstants.DELAY);
            headers.remove(RedisDelayConstants.DELIVER_AT);
        }
        headers.keySet().removeAll(own);
        return headers;
    }
}
