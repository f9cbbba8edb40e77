// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A TCP proxy between clients and a Redis server, whose faults a test switches on and off. A switch acts on all
 * connections at once, on those that are open and on those to come, before its method returns; {@link #heal()} switches
 * everything off.
 *
 * <p>It tells connections that carry commands from those that carry a subscription, by the first {@code SUBSCRIBE} on
 * them, and from those of replicas, by {@code PSYNC}.
 *
 * <p>Each direction of a connection has one thread that reads and one that writes, so that a delay holds up nothing but
 * what is on its way. The switches are guarded by one lock; who waits for a switch waits for its condition.
 */
public final class FaultyProxy implements AutoCloseable {

    /** The uses of a connection. */
    public enum Kind {
        COMMANDS,
        SUBSCRIPTION,
        /** A replica reads its master. */
        REPLICATION
    }

    private static final byte[] SUBSCRIBE = ascii("SUBSCRIBE");
    private static final byte[] PSYNC = ascii("PSYNC");
    /** Marks the end of what one side sent. */
    private static final byte[] END = {};

    private static final int CHUNK_BYTES = 16 * 1024;
    /** The most bytes on their way in one direction: beyond it the sender is kept waiting, as by TCP. */
    private static final int MAX_CHUNKS = 1024;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // All below are guarded by lock.
    private long delayNanos;
    private long bytesPerSecond = Long.MAX_VALUE;
    private boolean refusing;
    private boolean stalled;
    private final Set<Kind> swallowed = EnumSet.noneOf(Kind.class);
    private byte[] unanswered;
    private int oneIn;
    private int answers;
    private int lostAnswers;
    private boolean closed;

    /** Listens on a free port of the loopback address, and connects each client to the server at this address. */
    public FaultyProxy(String host, int port) {
        target = new InetSocketAddress(host, port);
        try {
            listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("proxy-accept", this::accept);
    }

    /** {@code redis://host:port} of the proxy. */
    public String address() {
        return "redis://" + listener.getInetAddress().getHostAddress() + ":" + listener.getLocalPort();
    }

    // ---- switches

    /** Everything takes this much longer, in each direction; what is on its way already included. */
    public void delay(Duration oneWay) {
        change(() -> delayNanos = oneWay.toNanos());
    }

    /** Each direction of each connection carries no more than this. */
    public void limit(long bytes) {
        change(() -> bytesPerSecond = bytes);
    }

    /** Closes all connections in an orderly way, at both ends. New ones can be made. */
    public void closeConnections() {
        links.forEach(link -> link.end(false));
    }

    /** Resets all connections (RST), at both ends. New ones can be made. */
    public void reset() {
        links.forEach(link -> link.end(true));
    }

    /** Resets all connections, and each new one as soon as it is made, until {@link #heal()}. */
    public void cut() {
        change(() -> refusing = true);
        reset();
    }

    /**
     * Nothing passes until {@link #heal()}; then everything does, in order, as after a cable was pulled and put back.
     * What a side closes meanwhile is closed at the other one afterwards.
     */
    public void stall() {
        change(() -> stalled = true);
    }

    /**
     * Half-open: what is sent on connections of these kinds vanishes, in both directions, even their end, and new ones
     * get no further either. {@link #heal()} lets new ones through; one on which something vanished stays dead for
     * ever, as behind a firewall that has forgotten it.
     */
    public void swallow(Kind first, Kind... more) {
        change(() -> {
            swallowed.add(first);
            swallowed.addAll(List.of(more));
            links.stream().filter(link -> swallowed.contains(link.kind)).forEach(link -> link.dead = true);
        });
    }

    /**
     * Of the answers to commands with this text in them, each {@code oneIn}-th is lost after the server has executed
     * the command: its connection is reset instead.
     */
    public void loseAnswers(String text, int oneIn) {
        change(() -> {
            unanswered = ascii(text);
            this.oneIn = oneIn;
            answers = 0;
        });
    }

    /** Ends all faults. */
    public void heal() {
        change(() -> {
            delayNanos = 0;
            bytesPerSecond = Long.MAX_VALUE;
            refusing = false;
            stalled = false;
            swallowed.clear();
            unanswered = null;
        });
    }

    // ---- what a test may ask

    /** The number of connections of a kind that are open and not dead. */
    public long connections(Kind kind) {
        lock.lock();
        try {
            return links.stream()
                    .filter(link -> link.kind == kind && !link.dead)
                    .count();
        } finally {
            lock.unlock();
        }
    }

    /** The number of answers that were lost so far, see {@link #loseAnswers}. */
    public int lostAnswers() {
        lock.lock();
        try {
            return lostAnswers;
        } finally {
            lock.unlock();
        }
    }

    /** Ends all connections in an orderly way, and listens no more. */
    @Override
    public void close() {
        change(() -> closed = true);
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        closeConnections();
    }

    private void change(Runnable how) {
        lock.lock();
        try {
            how.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void accept() {
        while (true) {
            Socket client;
            try {
                client = listener.accept();
            } catch (IOException e) {
                return; // closed
            }
            boolean refused;
            lock.lock();
            try {
                refused = refusing || closed;
            } finally {
                lock.unlock();
            }
            if (refused) {
                end(client, true);
            } else {
                open(client);
            }
        }
    }

    private void open(Socket client) {
        Socket server = new Socket();
        try {
            server.connect(target, 5000);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            Link link = new Link(client, server);
            links.add(link);
            lock.lock();
            try {
                if (closed || refusing) {
                    link.end(true); // missed by who ended the others
                }
            } finally {
                lock.unlock();
            }
            link.start();
        } catch (IOException e) {
            end(server, true);
            end(client, true); // as if nobody listened
        }
    }

    /** @param reset whether the other end is to get an RST instead of a FIN */
    private static void end(Socket socket, boolean reset) {
        try {
            if (reset) {
                socket.setSoLinger(true, 0);
            }
            socket.close();
        } catch (IOException e) {
            // It is closed already.
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static boolean contains(byte[] bytes, byte[] text) {
        for (int i = 0; i + text.length <= bytes.length; i++) {
            int n = 0;
            while (n < text.length && bytes[i + n] == text[n]) {
                n++;
            }
            if (n == text.length) {
                return true;
            }
        }
        return false;
    }

    private record Chunk(byte[] bytes, long readNanos) {}

    /** One client's connection and the one to the server that belongs to it. */
    private final class Link {
        private final Socket client;
        private final Socket server;

        // All below are guarded by lock.
        private Kind kind = Kind.COMMANDS;
        /** Something on it has vanished: nothing passes any more. */
        private boolean dead;
        /** A command was sent whose answer may be lost. */
        private boolean answerCounts;

        private int ended;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void start() {
            pump("up", client, server, true);
            pump("down", server, client, false);
        }

        void end(boolean reset) {
            links.remove(this);
            FaultyProxy.end(client, reset);
            FaultyProxy.end(server, reset);
        }

        private void pump(String name, Socket from, Socket to, boolean up) {
            BlockingQueue<Chunk> onTheWay = new LinkedBlockingQueue<>(MAX_CHUNKS);
            FaultyProxy.start("proxy-read-" + name, () -> read(from, onTheWay));
            FaultyProxy.start("proxy-write-" + name, () -> write(onTheWay, to, up));
        }

        private void read(Socket from, BlockingQueue<Chunk> onTheWay) {
            byte[] buffer = new byte[CHUNK_BYTES];
            try {
                try {
                    InputStream in = from.getInputStream();
                    int length;
                    while ((length = in.read(buffer)) >= 0) {
                        byte[] bytes = new byte[length];
                        System.arraycopy(buffer, 0, bytes, 0, length);
                        onTheWay.put(new Chunk(bytes, System.nanoTime()));
                    }
                } catch (IOException e) {
                    // The connection has ended, by a reset or by us.
                }
                onTheWay.put(new Chunk(END, System.nanoTime()));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private void write(BlockingQueue<Chunk> onTheWay, Socket to, boolean up) {
            // When this direction carried something last.
            long free = System.nanoTime();
            try {
                OutputStream out = to.getOutputStream();
                while (true) {
                    Chunk chunk = onTheWay.take();
                    if (!passes(chunk, up, free)) {
                        if (chunk.bytes == END) {
                            return;
                        }
                        continue;
                    }
                    free = System.nanoTime();
                    if (chunk.bytes == END) {
                        to.shutdownOutput();
                        if (hasEnded()) {
                            end(false);
                        }
                        return;
                    }
                    out.write(chunk.bytes);
                }
            } catch (IOException e) {
                end(true);
                onTheWay.clear(); // so that the reader has room to end
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** Waits until it is time to pass something on; false if it is lost. */
        private boolean passes(Chunk chunk, boolean up, long free) throws InterruptedException {
            boolean lost;
            lock.lock();
            try {
                if (up && kind == Kind.COMMANDS && contains(chunk.bytes, SUBSCRIBE)) {
                    kind = Kind.SUBSCRIPTION;
                } else if (up && kind == Kind.COMMANDS && contains(chunk.bytes, PSYNC)) {
                    kind = Kind.REPLICATION;
                }
                while (!closed && (stalled || timeLeft(chunk, free) > 0)) {
                    if (stalled) {
                        changed.await();
                    } else {
                        changed.awaitNanos(timeLeft(chunk, free));
                    }
                }
                if (swallowed.contains(kind)) {
                    dead = true;
                }
                if (dead) {
                    return false;
                }
                lost = losesAnswer(chunk, up);
            } finally {
                lock.unlock();
            }
            if (lost) {
                end(true);
            }
            return !lost;
        }

        /** Holds the lock. */
        private long timeLeft(Chunk chunk, long free) {
            long now = System.nanoTime();
            long left = chunk.readNanos + delayNanos - now;
            if (bytesPerSecond != Long.MAX_VALUE) {
                // An idle link saves up no time. A chunk starts when it was read, or when the one before it has passed.
                long start = Math.max(free, chunk.readNanos);
                left = Math.max(left, start + TimeUnit.SECONDS.toNanos(chunk.bytes.length) / bytesPerSecond - now);
            }
            return left;
        }

        /** Holds the lock. */
        private boolean losesAnswer(Chunk chunk, boolean up) {
            if (unanswered == null || chunk.bytes == END) {
                return false;
            }
            if (up) {
                answerCounts |= contains(chunk.bytes, unanswered);
                return false;
            }
            if (!answerCounts) {
                return false;
            }
            answerCounts = false;
            answers++;
            if (answers % oneIn != 0) {
                return false;
            }
            lostAnswers++;
            return true;
        }

        private boolean hasEnded() {
            lock.lock();
            try {
                return ++ended == 2;
            } finally {
                lock.unlock();
            }
        }
    }
}
