// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One plain connection to Redis, where a client library would repeat, reconnect or hide too much. */
public final class RedisSocket implements AutoCloseable {

    private final Socket socket;
    private final BufferedReader answers;

    private RedisSocket(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(10_000);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
    }

    /** Connects to {@code redis://host:port}, or as a user to {@code redis://name:password@host:port}. */
    public static RedisSocket open(String address) throws IOException {
        URI uri = URI.create(address);
        RedisSocket socket = new RedisSocket(new Socket(uri.getHost(), uri.getPort()));
        if (uri.getUserInfo() != null) {
            String answer = socket.call("AUTH " + uri.getUserInfo().replace(':', ' '));
            if (!"+OK".equals(answer)) {
                socket.close();
                throw new IOException("AUTH at " + address + ": " + answer);
            }
        }
        return socket;
    }

    /** For how long to wait for an answer; 10 s by default. */
    public void timeout(Duration timeout) throws IOException {
        socket.setSoTimeout((int) timeout.toMillis());
    }

    /**
     * Sends a command and reads the first line of the answer.
     *
     * @param command words with a space between them
     * @return null if the connection was closed
     */
    public String call(String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        return next();
    }

    /**
     * Reads the next line of what the server sends.
     *
     * @return null if the connection was closed
     */
    public String next() throws IOException {
        return answers.readLine();
    }

    /** Sends a command of any bytes, each a character, and reads the first line of the answer. */
    public String send(List<String> words) throws IOException {
        StringBuilder command = new StringBuilder("*" + words.size() + "\r\n");
        for (String word : words) {
            command.append('$')
                    .append(word.length())
                    .append("\r\n")
                    .append(word)
                    .append("\r\n");
        }
        socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.ISO_8859_1));
        return answers.readLine();
    }

    /** Sends a command whose answer is a text, and reads it. */
    public String text(String command) throws IOException {
        return text(command, call(command));
    }

    /** Sends a command whose answer is a list of texts, and reads them. */
    public List<String> texts(String command) throws IOException {
        String head = call(command);
        if (head == null || !head.startsWith("*")) {
            throw new IOException(command + ": " + head);
        }
        List<String> texts = new ArrayList<>();
        for (int left = Integer.parseInt(head.substring(1)); left > 0; left--) {
            texts.add(text(command, answers.readLine()));
        }
        return texts;
    }

    private String text(String command, String head) throws IOException {
        if (head == null || !head.startsWith("$")) {
            throw new IOException(command + ": " + head);
        }
        char[] text = new char[Integer.parseInt(head.substring(1))];
        for (int at = 0; at < text.length; ) {
            int read = answers.read(text, at, text.length - at);
            if (read < 0) {
                throw new IOException(command + ": the connection was closed");
            }
            at += read;
        }
        skip(1);
        return new String(text);
    }

    /**
     * Sends a command and reads the whole answer.
     *
     * @return as redis-cli shows it at a terminal, but for a list, whose elements are in one line
     */
    public String shown(List<String> words) throws IOException {
        return shown(String.join(" ", words), send(words));
    }

    private String shown(String command, String head) throws IOException {
        if (head == null) {
            throw new IOException(command + ": the connection was closed");
        }
        String rest = head.substring(1);
        return switch (head.charAt(0)) {
            case '+' -> rest;
            case '-' -> "(error) " + rest;
            case ':' -> "(integer) " + rest;
            case '$' -> head.equals("$-1") ? "(nil)" : '"' + text(command, head) + '"';
            case '*' -> list(command, Integer.parseInt(rest));
            default -> throw new IOException(command + ": " + head);
        };
    }

    private String list(String command, int size) throws IOException {
        StringBuilder list = new StringBuilder(size == 0 ? "(empty array)" : "");
        for (int i = 1; i <= size; i++) {
            list.append(i == 1 ? "" : " ").append(i).append(") ").append(shown(command, answers.readLine()));
        }
        return list.toString();
    }

    /** Reads on, without a look at it. */
    public void skip(int lines) throws IOException {
        for (int i = 0; i < lines; i++) {
            answers.readLine();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
