// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import com.sun.javafx.webkit.WebConsoleListener;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javafx.animation.AnimationTimer;
import javafx.application.Platform;
import javafx.concurrent.Worker;
import javafx.event.Event;
import javafx.geometry.Point2D;
import javafx.scene.Group;
import javafx.scene.Scene;
import javafx.scene.image.PixelReader;
import javafx.scene.image.WritableImage;
import javafx.scene.input.KeyCode;
import javafx.scene.input.KeyEvent;
import javafx.scene.input.MouseButton;
import javafx.scene.robot.Robot;
import javafx.scene.text.Text;
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

    /** Adds what each browser has and this port of WebKit lacks: the names of keys, and Escape in a dialog. */
    private static final String KEYBOARD = "Object.defineProperty(KeyboardEvent.prototype, 'key', { get() {"
            + " return this.charCode ? String.fromCharCode(this.charCode)"
            + " : { 13: 'Enter', 27: 'Escape', 9: 'Tab', 37: 'ArrowLeft', 39: 'ArrowRight', 32: ' ', 191: '/' }[this.keyCode]"
            + " || String.fromCharCode(this.keyCode).toLowerCase(); } });"
            + " addEventListener('keydown', event => { const dialog = document.querySelector('dialog[open]');"
            + " if (dialog && event.key === 'Escape' && dialog.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close(); });";

    /** As on a phone; those of this port cover the page. */
    private static final String NO_SCROLL_BARS = "data:text/css,::-webkit-scrollbar { display: none }";

    private static Stage stage; // touched by JavaFX's thread alone
    private static String missing; // guarded by the class; null before the start, empty if nothing is missing

    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final WebView view;

    /**
     * The reason that keeps WebKit from running here, such as a library of the system; null if there is none. It starts
     * once in a JVM.
     */
    static synchronized String missing() {
        if (missing == null) {
            missing = start();
        }
        return missing.isEmpty() ? null : missing + " (it needs Pango and a font: CONTRIBUTING.md names the packages)";
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
                            Platform.runLater(WebKit::neverEnd);
                            try {
                                new Text("needs Pango and a font").getLayoutBounds();
                                WebView probe = new WebView();
                                probe.getEngine()
                                        .getLoadWorker()
                                        .stateProperty()
                                        .addListener((state, old, now) -> {
                                            if (now == Worker.State.SUCCEEDED) {
                                                started.complete("");
                                            }
                                        });
                                show(probe);
                                probe.getEngine().loadContent("<p>ready</p>");
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

    /**
     * Keeps JavaFX's thread from its end. While a JVM exits, Monocle's shutdown hook ends the thread's event loop, and
     * the thread would end; the destructor of WebKit's thread-local data now and then calls {@code abort()}: exit
     * code 134 after the last green test. Here the hook ends a nested loop, and the thread stays.
     */
    private static void neverEnd() {
        Platform.enterNestedEventLoop(new Object());
        while (true) {
            LockSupport.park();
        }
    }

    private static void show(WebView view) {
        if (stage == null) {
            stage = new Stage(StageStyle.UNDECORATED);
            stage.setX(0);
            stage.setY(0);
            stage.setScene(new Scene(view));
        } else {
            stage.getScene().setRoot(view);
        }
        stage.setWidth(WIDTH);
        stage.setHeight(HEIGHT);
        stage.show();
        stage.requestFocus();
        view.requestFocus();
    }

    WebKit(File data) {
        WebView[] made = new WebView[1];
        run(() -> {
            made[0] = new WebView();
            made[0].getEngine().setUserDataDirectory(data);
            made[0].getEngine().setUserStyleSheetLocation(NO_SCROLL_BARS);
            WebConsoleListener.setDefaultListener((from, message, line, source) -> {
                if (from == made[0]) {
                    complaints.add(message + " (" + source + ":" + line + ")");
                }
            });
            show(made[0]);
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
        run(() -> view.getEngine()
                .load("about:blank")); // else an address that differs only behind its # is the same document
        until("location.href === 'about:blank'");
        complaints.clear();
        run(() -> view.getEngine().load(url));
        until("location.href !== 'about:blank' && document.readyState === 'complete'");
        run(() -> view.getEngine().executeScript(KEYBOARD));
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
        text.codePoints().mapToObj(Character::toString).forEach(typed -> run(() -> letter(typed)));
    }

    private void letter(String typed) {
        Event.fireEvent(
                view, new KeyEvent(KeyEvent.KEY_TYPED, typed, "", KeyCode.UNDEFINED, false, false, false, false));
    }

    @Override
    public void key(String key) {
        KeyCode code = KEYS.containsKey(key) ? KEYS.get(key) : KeyCode.getKeyCode(key.toUpperCase(Locale.ROOT));
        run(() -> {
            Robot robot = new Robot();
            robot.keyPress(code);
            if (code == KeyCode.ENTER) {
                letter("\r"); // which Monocle's robot leaves out, and a form is sent by
            }
            robot.keyRelease(code);
        });
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
        CompletableFuture<Void> drawn = new CompletableFuture<>();
        run(() -> new AnimationTimer() {
            private int frames;

            @Override
            public void handle(long now) {
                if (++frames == 3) { // what has changed is drawn with the next one
                    stop();
                    drawn.complete(null);
                }
            }
        }.start());
        drawn.orTimeout(30, TimeUnit.SECONDS).join();
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
            stage.getScene().setRoot(new Group());
        });
    }
}
