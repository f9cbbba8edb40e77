// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The options of the console. The defaults are those of {@link io.github.redisdelay.console.RedisDelayConsole}. */
@ConfigurationProperties(prefix = RedisDelayConsoleProperties.PREFIX, ignoreUnknownFields = false)
public class RedisDelayConsoleProperties {

    static final String PREFIX = "camel.redis-delay.console";

    /**
     * Gives the application a page to look into delay queues. Needs camel-redis-delay-console.
     */
    private boolean enabled;

    /**
     * Path of the page in a web application on servlets. Others listen by a server of the console's own.
     */
    private String path = "/redis-delay";

    /**
     * Address on which the console's own server listens, where the application is no web application on servlets.
     */
    private String host = "127.0.0.1";

    /**
     * Port of the console's own server; 0 for any that is free.
     */
    private int port = 8400;

    /**
     * Names by which browsers may call the page, besides localhost; * for any.
     */
    private List<String> hostNames = new ArrayList<>();

    /**
     * Lets those who have the right change something by the page.
     */
    private boolean actions;

    /**
     * Shows bodies of messages.
     */
    private boolean bodies = true;

    /**
     * Headers whose names contain this have their values hidden: a regular expression.
     */
    private String hiddenHeaders;

    /**
     * Word in the page's head, such as PRODUCTION.
     */
    private String environment;

    /**
     * Queues that are shown, too, where nothing else tells of them.
     */
    private List<String> queues = new ArrayList<>();

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    public String getPath() {
        return path;
    }

    public void setPath(String path) {
        this.path = path;
    }

    public String getHost() {
        return host;
    }

    public void setHost(String host) {
        this.host = host;
    }

    public int getPort() {
        return port;
    }

    public void setPort(int port) {
        this.port = port;
    }

    public List<String> getHostNames() {
        return hostNames;
    }

    public void setHostNames(List<String> hostNames) {
        this.hostNames = hostNames;
    }

    public boolean isActions() {
        return actions;
    }

    public void setActions(boolean actions) {
        this.actions = actions;
    }

    public boolean isBodies() {
        return bodies;
    }

    public void setBodies(boolean bodies) {
        this.bodies = bodies;
    }

    public String getHiddenHeaders() {
        return hiddenHeaders;
    }

    public void setHiddenHeaders(String hiddenHeaders) {
        this.hiddenHeaders = hiddenHeaders;
    }

    public String getEnvironment() {
        return environment;
    }

    public void setEnvironment(String environment) {
        this.environment = environment;
    }

    public List<String> getQueues() {
        return queues;
    }

    public void setQueues(List<String> queues) {
        this.queues = queues;
    }
}
