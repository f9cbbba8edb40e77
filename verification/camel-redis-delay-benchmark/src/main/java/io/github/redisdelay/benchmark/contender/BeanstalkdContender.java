// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.server.OtherQueues;
import io.github.redisdelay.benchmark.server.ServerProcess;
import io.github.redisdelay.queue.DueTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * beanstalkd, a server of its own for each queue, which writes nothing to disk. Each waiting caller has a connection;
 * what goes together is sent in one go, on two connections. Its delays are whole seconds.
 */
final class BeanstalkdContender implements Contender {

    private static final int CONNECTIONS = 2;

    /** The number of messages that one connection has under way. */
    private static final int TOGETHER = UNDER_WAY / CONNECTIONS;

    private static final int RECEIVED_TOGETHER = 256;

    private static final String SECONDS_TO_RUN = "3600";

    private final Path log;
    private final ServerProcess server;
    private final Queue<BeanstalkdConnection> idle = new ConcurrentLinkedQueue<>();

    BeanstalkdContender() throws IOException, InterruptedException {
        String binary = OtherQueues.beanstalkd();
        log = Files.createTempFile("beanstalkd", ".log");
        log.toFile().deleteOnExit();
        server = ServerProcess.start(
                port -> List.of(binary, "-l", ServerProcess.host(), "-p", Integer.toString(port)), log, "stats", 'O');
    }

    private BeanstalkdConnection connect() throws IOException {
        BeanstalkdConnection connection = idle.poll();
        return connection != null ? connection : new BeanstalkdConnection(ServerProcess.host(), server.port());
    }

    @Override
    public String subject() {
        return Subject.BEANSTALKD;
    }

    @Override
    public void schedule(Message message) throws Exception {
        BeanstalkdConnection connection = connect();
        put(connection, message.body(), message.due());
        inserted(connection, 1);
        idle.add(connection);
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        BeanstalkdConnection connection = connect();
        for (byte[] body : bodies) {
            put(connection, body, due);
        }
        inserted(connection, bodies.size());
        idle.add(connection);
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        List<BeanstalkdConnection> connections = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(connect());
        }
        int[] underWay = new int[CONNECTIONS];
        Message message = source.next();
        for (int i = 0; message != null; i = (i + 1) % CONNECTIONS) {
            BeanstalkdConnection connection = connections.get(i);
            inserted(connection, underWay[i]);
            for (underWay[i] = 0; underWay[i] < TOGETHER && message != null; underWay[i]++) {
                put(connection, message.body(), message.due());
                message = source.next();
            }
            connection.flush();
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            inserted(connections.get(i), underWay[i]);
        }
        idle.addAll(connections);
    }

    private static void put(BeanstalkdConnection connection, byte[] body, DueTime due) throws IOException {
        if (!due.relative()) {
            throw new IllegalArgumentException("beanstalkd knows no times, only delays in seconds");
        }
        connection.send("put 0 " + due.micros() / 1_000_000 + " " + SECONDS_TO_RUN, body);
    }

    private static void inserted(BeanstalkdConnection connection, int messages) throws IOException {
        connection.flush();
        for (int i = 0; i < messages; i++) {
            connection.answer("INSERTED ");
        }
    }

    @Override
    public Consumption consume(Arrivals arrivals) throws IOException {
        Receiver receiver = new Receiver(arrivals);
        receiver.start();
        return receiver;
    }

    /**
     * Receives on the connections in turn, on one thread: with the removal of what a connection has given goes the
     * question for more. A thread for each connection was a third slower, as it is woken for nearly each answer.
     */
    private final class Receiver extends Thread implements Consumption {

        private final List<BeanstalkdConnection> connections = new ArrayList<>();
        private final int[] received = new int[CONNECTIONS];
        private final Arrivals arrivals;
        private volatile boolean stopped;
        private volatile Throwable failure;

        Receiver(Arrivals arrivals) throws IOException {
            super("receiver");
            setDaemon(true);
            this.arrivals = arrivals;
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(connect());
            }
        }

        @Override
        public void run() {
            try {
                for (BeanstalkdConnection connection : connections) {
                    reserve(connection);
                }
                for (int i = 0; !stopped; i = (i + 1) % CONNECTIONS) {
                    receive(i);
                }
            } catch (Throwable e) {
                failure = stopped ? null : e;
            }
        }

        private void receive(int i) throws IOException {
            BeanstalkdConnection connection = connections.get(i);
            for (; received[i] > 0; received[i]--) {
                connection.answer("DELETED");
            }
            for (int j = 0; j < RECEIVED_TOGETHER; j++) {
                String answer = connection.answer("RESERVED ", "TIMED_OUT");
                if (answer.startsWith("RESERVED ")) {
                    arrivals.arrived(connection.body(answer));
                    connection.send("delete " + answer.split(" ")[1]);
                    received[i]++;
                }
            }
            if (arrivals.count() == arrivals.expected()) {
                connection.flush(); // with that all is removed
                stopped = true;
            } else {
                reserve(connection);
            }
        }

        /** Whatever is there: one connection must not wait while the other one has something. */
        private void reserve(BeanstalkdConnection connection) throws IOException {
            for (int j = 0; j < RECEIVED_TOGETHER; j++) {
                connection.send("reserve-with-timeout 0");
            }
            connection.flush();
        }

        @Override
        public void close() throws Exception {
            stopped = true;
            join();
            for (BeanstalkdConnection connection : connections) {
                connection.close();
            }
            if (failure != null) {
                throw new IllegalStateException("The consumer of beanstalkd failed", failure);
            }
        }
    }

    @Override
    public long remaining() {
        try {
            BeanstalkdConnection connection = connect();
            connection.send("stats");
            connection.flush();
            String stats = new String(connection.body(connection.answer("OK ")), StandardCharsets.US_ASCII);
            idle.add(connection);
            return stats.lines()
                    .filter(line -> line.matches("current-jobs-(ready|reserved|delayed|buried): .*"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            for (BeanstalkdConnection connection : idle) {
                connection.close();
            }
        } finally {
            server.close();
        }
    }
}
