// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

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
 * beanstalkd, a server of its own for each queue, which writes nothing to disk. Each waiting caller has a connection; what goes
 * together is sent in one go, on two connections. Its delays are whole seconds.
 */
final class BeanstalkdContender implements Contender {

    private static final int CONNECTIONS = 2;

    /** What one connection has under way. */
    private static final int TOGETHER = UNDER_WAY / CONNECTIONS;

    private static final int RECEIVED_TOGETHER = 256;

    private static final String SECONDS_TO_RUN = "3600";

    private final Path log;
    private final ServerProcess server;
    private final Queue<BeanstalkdConnection> idle = new ConcurrentLinkedQueue<>();

    BeanstalkdContender() throws IOException, InterruptedException {
        String binary = OtherQueues.beanstalkd();
        log = Files.createTempFile("beanstalkd", ".log");
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
        List<Receiver> receivers = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Receiver receiver = new Receiver(connect(), arrivals);
            receiver.start();
            receivers.add(receiver);
        }
        return () -> {
            for (Receiver receiver : receivers) {
                receiver.end();
            }
        };
    }

    /** Waits for a message, takes what else is ready, and removes all of that. */
    private static final class Receiver extends Thread {

        private final BeanstalkdConnection connection;
        private final Arrivals arrivals;
        private volatile boolean stopped;
        private volatile Throwable failure;

        Receiver(BeanstalkdConnection connection, Arrivals arrivals) {
            super("receiver");
            setDaemon(true);
            this.connection = connection;
            this.arrivals = arrivals;
        }

        @Override
        public void run() {
            try {
                while (!stopped) {
                    receive();
                }
            } catch (Throwable e) {
                failure = stopped ? null : e;
            }
        }

        private void receive() throws IOException {
            connection.send("reserve");
            for (int i = 1; i < RECEIVED_TOGETHER; i++) {
                connection.send("reserve-with-timeout 0");
            }
            connection.flush();
            int received = 0;
            for (int i = 0; i < RECEIVED_TOGETHER; i++) {
                String answer = connection.answer("RESERVED ", "TIMED_OUT");
                if (answer.startsWith("RESERVED ")) {
                    arrivals.arrived(connection.body(answer));
                    connection.send("delete " + answer.split(" ")[1]);
                    received++;
                }
            }
            connection.flush();
            for (int i = 0; i < received; i++) {
                connection.answer("DELETED");
            }
        }

        void end() throws Exception {
            stopped = true;
            connection.close();
            join();
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
        for (BeanstalkdConnection connection : idle) {
            connection.close();
        }
        server.close();
        Files.delete(log);
    }
}
