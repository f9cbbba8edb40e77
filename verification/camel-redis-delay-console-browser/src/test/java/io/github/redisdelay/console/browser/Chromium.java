// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.camel.util.json.JsonArray;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.awaitility.Awaitility;

/** A Chromium process without a window, spoken to by the DevTools protocol. */
final class Chromium implements Browser {

    private static final List<String> NAMES =
            List.of("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser", "chrome");
    private static final Map<String, Integer> KEYS =
            Map.of("Enter", 13, "Escape", 27, "Tab", 9, "ArrowRight", 39, "ArrowLeft", 37, " ", 32);
    private static final Map<String, String> TEXTS = Map.of("Enter", "\r");

    private final Process process;
    private final WebSocket socket;
    private final AtomicInteger serial = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final String session;

    /**
     * The program that is named by {@code -Dbrowser} or the variable {@code CHROME}, else one on the path; null if
     * there is none.
     */
    static Path binary() {
        String named = System.getProperty("browser", System.getenv("CHROME"));
        if (named != null && !named.isBlank()) {
            return Path.of(named);
        }
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(file -> file.toFile().canExecute() && file.toFile().isFile())
                .findFirst()
                .orElse(null);
    }

    Chromium(Path profile) {
        Path binary = binary();
        ProcessBuilder command = new ProcessBuilder(
                binary.toString(),
                "--headless",
                // Its sandbox needs rights that a container rarely has. It only sees the pages of these tests.
                "--no-sandbox",
                "--no-zygote",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--hide-scrollbars",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile.toAbsolutePath(),
                "about:blank");
        Path libraries = binary.resolveSibling("lib"); // as the package of npm brings them
        if (libraries.toFile().isDirectory()) {
            command.environment().put("LD_LIBRARY_PATH", libraries.toString());
        }
        command.redirectErrorStream(true);
        try {
            process = command.start();
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(URI.create(address()), new Receiver())
                    .get(30, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        // It listens before it has opened the page.
        Object page = Awaitility.await().atMost(Duration.ofSeconds(30)).until(this::page, Objects::nonNull);
        session = (String) send(null, "Target.attachToTarget", Map.of("targetId", page, "flatten", true))
                .get("sessionId");
        for (String domain : List.of("Page", "Runtime", "Log")) {
            send(domain + ".enable", Map.of());
        }
        resize(WIDTH, HEIGHT);
    }

    private Object page() {
        JsonArray targets =
                (JsonArray) send(null, "Target.getTargets", Map.of()).get("targetInfos");
        return targets.stream()
                .map(JsonObject.class::cast)
                .filter(target -> "page".equals(target.get("type")))
                .map(target -> target.get("targetId"))
                .findFirst()
                .orElse(null);
    }

    private String address() throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder said = new StringBuilder();
        for (String line; (line = lines.readLine()) != null; ) {
            if (line.contains("DevTools listening on ")) {
                Thread drain = new Thread(() -> lines.lines().forEach(rest -> {}), "output of Chromium");
                drain.setDaemon(true);
                drain.start();
                return line.substring(line.indexOf("ws://"));
            }
            said.append(line).append('\n');
        }
        throw new IOException("Chromium did not start: " + said);
    }

    /** Puts the pieces of a message together, and gives it to who waits for it. */
    private final class Receiver implements WebSocket.Listener {

        private final StringBuilder pieces = new StringBuilder(); // only one call at a time

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            pieces.append(data);
            if (last) {
                JsonObject message = (JsonObject) Jsoner.deserialize(pieces.toString(), new JsonObject());
                pieces.setLength(0);
                if (message.containsKey("id")) {
                    asked.remove(((Number) message.get("id")).intValue()).complete(message);
                } else {
                    happened((String) message.get("method"), (JsonObject) message.get("params"));
                }
            }
            from.request(1);
            return null;
        }
    }

    private void happened(String what, JsonObject facts) {
        if (List.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
                .contains(what)) {
            complaints.add(what + " " + facts.toJson());
        }
    }

    private JsonObject send(String method, Map<String, ?> parameters) {
        return send(session, method, parameters);
    }

    private JsonObject send(String to, String method, Map<String, ?> parameters) {
        int id = serial.incrementAndGet();
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        asked.put(id, answer);
        JsonObject message = new JsonObject();
        message.put("id", id);
        message.put("method", method);
        message.put("params", new JsonObject(parameters));
        if (to != null) {
            message.put("sessionId", to);
        }
        try {
            socket.sendText(message.toJson(), true).get(30, TimeUnit.SECONDS);
            JsonObject told = answer.get(30, TimeUnit.SECONDS);
            if (told.containsKey("error")) {
                throw new AssertionError(method + ": " + told.get("error"));
            }
            return (JsonObject) told.get("result");
        } catch (Exception e) {
            throw new AssertionError(method, e);
        }
    }

    @Override
    public void open(String url) {
        complaints.clear();
        send("Page.navigate", Map.of("url", "about:blank"));
        until("location.href === 'about:blank'");
        JsonObject told = send("Page.navigate", Map.of("url", url));
        if (told.containsKey("errorText")) {
            throw new AssertionError("cannot be opened: " + url + ": " + told.get("errorText"));
        }
        until("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    @Override
    public Object value(String expression) {
        JsonObject told = send("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
        if (told.containsKey("exceptionDetails")) {
            throw new AssertionError(expression + ": " + told.get("exceptionDetails"));
        }
        return ((JsonObject) told.get("result")).get("value");
    }

    @Override
    public void clickAt(double x, double y) {
        mouse("mouseMoved", x, y, 0);
        mouse("mousePressed", x, y, 1);
        mouse("mouseReleased", x, y, 1);
    }

    private void mouse(String type, double x, double y, int clicks) {
        send(
                "Input.dispatchMouseEvent",
                Map.of("type", type, "x", x, "y", y, "button", clicks == 0 ? "none" : "left", "clickCount", clicks));
    }

    @Override
    public void type(String text) {
        send("Input.insertText", Map.of("text", text));
    }

    @Override
    public void key(String key) {
        String text = TEXTS.getOrDefault(key, key.length() == 1 ? key : "");
        int code = KEYS.getOrDefault(key, 0);
        send(
                "Input.dispatchKeyEvent",
                Map.of("type", "keyDown", "key", key, "code", key, "text", text, "windowsVirtualKeyCode", code));
        send("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key, "code", key, "windowsVirtualKeyCode", code));
    }

    @Override
    public void resize(int width, int height) {
        send(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** Lets the page believe that the reader likes it dark. */
    void dark() {
        send(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        new JsonArray(
                                List.of(new JsonObject(Map.of("name", "prefers-color-scheme", "value", "dark"))))));
    }

    @Override
    public byte[] png() {
        return Base64.getDecoder().decode((String)
                send("Page.captureScreenshot", Map.of("format", "png")).get("data"));
    }

    @Override
    public List<String> complaints() {
        return new ArrayList<>(complaints);
    }

    @Override
    public void close() {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
