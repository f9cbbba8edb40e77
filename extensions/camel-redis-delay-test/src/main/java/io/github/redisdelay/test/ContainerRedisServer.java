// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A server in a container of any Redis or Valkey image. The container is stopped and started, so its files stay. */
final class ContainerRedisServer extends RedisServer {

    private static final int CONTAINER_PORT = 6379;

    private final int port = TestPorts.next();
    private final Container container;
    private boolean created;

    ContainerRedisServer(String image, List<String> configLines) {
        // Both images' entry points run their server when the command begins with an option.
        List<String> command = new ArrayList<>(List.of("--save", "", "--appendonly", "no"));
        for (String line : configLines) {
            String[] words = line.trim().split("\\s+");
            if (!words[0].equals("dir")) { // A directory of this machine means nothing inside; the image has its own.
                command.add("--" + words[0]);
                command.addAll(List.of(words).subList(1, words.length));
            }
        }
        container = new Container(image, port);
        container.withCommand(command.toArray(new String[0]));
    }

    @Override
    public String host() {
        return container.getHost();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public synchronized void start() {
        try {
            if (created) {
                container
                        .getDockerClient()
                        .startContainerCmd(container.getContainerId())
                        .exec();
            } else {
                container.start();
                created = true;
            }
            awaitAnswer(container::isRunning);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage() + "; its log:\n" + container.getLogs(), e);
        } catch (ContainerLaunchException e) {
            throw new IllegalStateException(
                    "A container of " + container.getDockerImageName() + " did not start with "
                            + String.join(" ", container.getCommandParts()),
                    e);
        } catch (IllegalStateException e) {
            throw noContainer(
                    "no container engine was found",
                    "start a container engine and name an image with -D" + IMAGE_PROPERTY + "=" + DEFAULT_IMAGE,
                    e);
        }
    }

    @Override
    public synchronized void stop() {
        container.getDockerClient().stopContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public synchronized void kill() {
        container.getDockerClient().killContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public synchronized void close() {
        container.stop();
    }

    private static final class Container extends GenericContainer<Container> {

        Container(String image, int hostPort) {
            super(DockerImageName.parse(image));
            // Fixed, so that the port is the same after a restart.
            addFixedExposedPort(hostPort, CONTAINER_PORT);
        }
    }
}
