// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import com.sun.javafx.webkit.WebConsoleListener;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import javafx.application.Platform;
import javafx.concurrent.Worker;
import javafx.event.Event;
import javafx.geometry.Point2D;
import javafx.scene.Scene;
import javafx.scene.image.PixelReader;
import javafx.scene.image.WritableImage;
import javafx.scene.input.KeyCode;
import javafx.scene.input.KeyEvent;
import javafx.scene.input.MouseButton;
import javafx.scene.robot.Robot;
import javafx.scene.web.WebView;
import javafx.stage.Stage;
import javafx.stage.StageStyle;
import javax.imageio.ImageIO;

/** The WebKit inside JavaFX, on a screen in memory. */
final class WebKit implements Browser {

    private static final int START_SECONDS = 60;
    private static final Map<String, KeyCode> KEYS = Map.of(
            "Enter", KeyCode.ENTER,
            "Escape", KeyCode.ESCAPE,
            "Tab", KeyCode.TAB,
            "ArrowRight", KeyCode.RIGHT,
            "ArrowLeft", KeyCode.LEFT,
            "/", KeyCode.SLASH,
            " ", KeyCode.SPACE);

    private static String missing; // guarded by the class; null before the start, empty if nothing is missing

    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final Stage stage;
    private final WebView view;

    /** What keeps WebKit from running here, such as a library of the system; null if nothing does. It starts once in a JVM. */
    static synchronized String missing() {
        if (missing == null) {
            missing = start();
        }
        return missing.isEmpty() ? null : missing;
    }

    private static String start() {
        CompletableFuture<String> started = new CompletableFuture<>();
        // A library that is missing ends a thread of JavaFX's own, and nobody who waits for it is told.
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> started.complete(problem.toString()));
        Thread starter = new Thread(
                () -> {
                    try {
                        Platform.setImplicitExit(false);
                        Platform.startup(() -> {
                            try {
                                WebView probe = new WebView();
                                probe.getEngine()
                                        .getLoadWorker()
                                        .stateProperty()
                                        .addListener((state, old, now) -> {
                                            if (now == Worker.State.SUCCEEDED) {
                                                started.complete("");
                                            }
                                        });
                                show(probe, WIDTH, HEIGHT);
                                probe.getEngine().loadContent("<p>text that needs a font</p>");
                            } catch (Throwable e) { // NoClassDefFoundError, UnsatisfiedLinkError: whatever it is, it is
                                // told
                                started.complete(e.toString());
                            }
                        });
                    } catch (Throwable e) {
                        started.complete(e.toString());
                    }
                },
                "start of JavaFX");
        starter.setDaemon(true);
        starter.start();
        try {
            return started.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            return "it did not start within " + START_SECONDS + " s: " + e;
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    private static Stage show(WebView view, int width, int height) {
        Stage stage = new Stage(StageStyle.UNDECORATED);
        stage.setX(0);
        stage.setY(0);
        stage.setScene(new Scene(view, width, height));
        stage.show();
        return stage;
    }

    WebKit(File data) {
        WebView[] made = new WebView[1];
        stage = call(() -> {
            made[0] = new WebView();
            made[0].getEngine().setUserDataDirectory(data);
            WebConsoleListener.setDefaultListener((from, message, line, source) -> {
                if (from == made[0]) {
                    complaints.add(message + " (" + source + ":" + line + ")");
                }
            });
            Stage shown = show(made[0], WIDTH, HEIGHT);
            made[0].requestFocus();
            return shown;
        });
        view = made[0];
    }

    /** Runs on JavaFX's thread, which alone may touch its objects. */
    private static <T> T call(Callable<T> action) {
        FutureTask<T> task = new FutureTask<>(action);
        Platform.runLater(task);
        try {
            return task.get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void run(Runnable action) {
        call(() -> {
            action.run();
            return null;
        });
    }

    @Override
    public void open(String url) {
        complaints.clear();
        CompletableFuture<Worker.State> loaded = new CompletableFuture<>();
        run(() -> {
            view.getEngine().getLoadWorker().stateProperty().addListener((state, old, now) -> {
                if (now == Worker.State.SUCCEEDED || now == Worker.State.FAILED || now == Worker.State.CANCELLED) {
                    loaded.complete(now);
                }
            });
            view.getEngine().load(url);
        });
        try {
            if (loaded.get(30, TimeUnit.SECONDS) != Worker.State.SUCCEEDED) {
                throw new AssertionError("cannot be opened: " + url);
            }
        } catch (Exception e) {
            throw new AssertionError("cannot be opened: " + url, e);
        }
    }

    @Override
    public Object value(String expression) {
        return call(() -> view.getEngine().executeScript(expression));
    }

    @Override
    public void clickAt(double x, double y) {
        run(() -> {
            Point2D point = view.localToScreen(x, y);
            Robot robot = new Robot();
            robot.mouseMove(point);
            robot.mouseClick(MouseButton.PRIMARY);
        });
    }

    @Override
    public void type(String text) {
        text.codePoints()
                .mapToObj(Character::toString)
                .forEach(typed -> run(() -> Event.fireEvent(
                        view,
                        new KeyEvent(KeyEvent.KEY_TYPED, typed, "", KeyCode.UNDEFINED, false, false, false, false))));
    }

    @Override
    public void key(String key) {
        KeyCode code =
                KEYS.containsKey(key) ? KEYS.get(key) : KeyCode.getKeyCode(key.toUpperCase(java.util.Locale.ROOT));
        run(() -> new Robot().keyType(code));
    }

    @Override
    public void resize(int width, int height) {
        run(() -> {
            stage.setWidth(width);
            stage.setHeight(height);
        });
        until("innerWidth === " + width + " && innerHeight === " + height);
    }

    @Override
    public byte[] png() {
        WritableImage image = call(() -> view.snapshot(null, null));
        int width = (int) image.getWidth();
        int height = (int) image.getHeight();
        BufferedImage picture = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        PixelReader pixels = image.getPixelReader();
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                picture.setRGB(x, y, pixels.getArgb(x, y));
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ImageIO.write(picture, "png", out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    @Override
    public List<String> complaints() {
        return List.copyOf(complaints);
    }

    @Override
    public void close() {
        run(() -> {
            view.getEngine().load(null);
            stage.close();
        });
    }
}
