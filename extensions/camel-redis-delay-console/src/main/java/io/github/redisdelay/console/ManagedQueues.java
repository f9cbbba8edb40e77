// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.monitor.QueueBeans;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.spi.ManagementAgent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues in JMX, each once, for as long as there is an endpoint that leads to it. Of endpoints that are made while
 * messages are routed, as by {@code toD}, none is shown, as Camel does: there may be thousands. Thread-safe.
 */
public final class ManagedQueues implements QueueBeans {

    private static final Logger LOG = LoggerFactory.getLogger(ManagedQueues.class);

    /** The endpoints of each queue. Guarded by this. */
    private final Map<ObjectName, Set<Endpoint>> endpoints = new HashMap<>();

    @Override
    public synchronized void add(Endpoint endpoint) {
        CamelContext context = endpoint.getCamelContext();
        ManagementAgent agent = agent(context);
        if (agent == null || !isShown(context, agent)) {
            return;
        }
        RedisDelayEndpoint own = (RedisDelayEndpoint) endpoint;
        try {
            ObjectName name = name(context, agent, own);
            Set<Endpoint> users = endpoints.computeIfAbsent(name, key -> new HashSet<>());
            users.add(endpoint);
            if (!agent.isRegistered(name)) {
                agent.register(new ManagedQueue(own, System::nanoTime), name);
            }
        } catch (JMException e) {
            LOG.warn("queue '{}' is not shown in JMX", own.getQueueName(), e);
        }
    }

    @Override
    public synchronized void remove(Endpoint endpoint) {
        endpoints.entrySet().removeIf(entry -> {
            boolean last = entry.getValue().remove(endpoint) && entry.getValue().isEmpty();
            ManagementAgent agent = last ? agent(endpoint.getCamelContext()) : null;
            if (agent != null) {
                try {
                    agent.unregister(entry.getKey());
                } catch (JMException e) {
                    LOG.debug("{} is not in JMX any more", entry.getKey(), e);
                }
            }
            return last;
        });
    }

    private static ManagementAgent agent(CamelContext context) {
        return context.getManagementName() == null || context.getManagementStrategy() == null
                ? null
                : context.getManagementStrategy().getManagementAgent();
    }

    /** Camel's own rule for endpoints. */
    private static boolean isShown(CamelContext context, ManagementAgent agent) {
        return agent.getMBeansLevel().isRoutes()
                && (context.getStatus().isStarting()
                        || context.getStatus().isInitializing()
                        || context.getCamelContextExtension().isSetupRoutes()
                        || agent.getRegisterAlways()
                        || agent.getRegisterNewRoutes()
                                && context.getRouteController().isStartingRoutes());
    }

    private static ObjectName name(CamelContext context, ManagementAgent agent, RedisDelayEndpoint endpoint)
            throws JMException {
        return new ObjectName(agent.getMBeanObjectDomainName() + ":context=" + context.getManagementName()
                + ",type=queues,name=" + ObjectName.quote(endpoint.getQueueName())
                + (endpoint.isOfDeadLetters() ? ",state=dead" : "")
                + ",prefix=" + ObjectName.quote(endpoint.getKeyPrefix())
                + ",address=" + ObjectName.quote(endpoint.place()));
    }
}
