// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** One window of a real browser. Clicks and keys go through the engine as those of a person do. */
interface Browser extends AutoCloseable {

    int WIDTH = 1280;
    int HEIGHT = 900;

    /** Goes to an address, and returns when the document is there; its scripts may still be reading. */
    void open(String url);

    /** The value of an expression in the page: text, a number, true or false, null. */
    Object value(String expression);

    /** Moves the mouse to a point of the window, and clicks. */
    void clickAt(double x, double y);

    /** Types text into what has the focus. */
    void type(String text);

    /**
     * Presses a key and releases it: {@code Enter}, {@code Escape}, {@code Tab}, {@code ArrowRight}, a letter,
     * {@code /}.
     */
    void key(String key);

    /** Sets the size of the page's part of the window. */
    void resize(int width, int height);

    /** A picture of the window as it is now. */
    byte[] png();

    /**
     * The lines that the page has written to the console since it was opened: scripts that failed, refusals of the
     * policy, log lines.
     */
    List<String> complaints();

    @Override
    void close();

    default boolean is(String condition) {
        return Boolean.TRUE.equals(value("Boolean(" + condition + ")"));
    }

    /** Waits until an expression is true. */
    default void until(String condition) {
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> is(condition));
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(
                    "never: " + condition + "\nThe page:\n" + value("document.body.innerText") + "\n" + complaints()
                            + "\n" + picture(),
                    e);
        }
    }

    private String picture() {
        try {
            return Files.write(Files.createTempFile(Path.of("target"), "never", ".png"), png())
                    .toAbsolutePath()
                    .toString();
        } catch (IOException e) {
            return "no picture: " + e;
        }
    }

    default boolean has(String selector) {
        return is("document.querySelector(" + quoted(selector) + ")");
    }

    /** Waits until there is an element. */
    default void see(String selector) {
        until("document.querySelector(" + quoted(selector) + ")");
    }

    /** Waits until there is no such element. */
    default void seeNo(String selector) {
        until("!document.querySelector(" + quoted(selector) + ")");
    }

    /** Waits until an element's text has this in it. White space counts as one space. */
    default void see(String selector, String text) {
        until("(document.querySelector(" + quoted(selector) + ")?.innerText ?? '').replace(/\\s+/g, ' ').includes("
                + quoted(text) + ")");
    }

    /** The text that a reader sees of an element; white space is one space. */
    default String text(String selector) {
        see(selector);
        return (String)
                value("document.querySelector(" + quoted(selector) + ").innerText.replace(/\\s+/g, ' ').trim()");
    }

    default int count(String selector) {
        return ((Number) value("document.querySelectorAll(" + quoted(selector) + ").length")).intValue();
    }

    /**
     * Clicks the middle of an element as soon as it is there, stands still and nothing covers it. As a reader would, it
     * scrolls to what is outside the window or under an outcome, which stays in its corner for about as long as this waits.
     */
    default void click(String selector) {
        String point = "(() => { const e = document.querySelector(" + quoted(selector) + "); if (!e) return '';"
                + " const control = one => one.closest('button, a, summary');"
                + " const free = () => { const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + r.height / 2;"
                + " const top = document.elementFromPoint(x, y);"
                + " return top && (e.contains(top) || top.contains(e) && control(top) === control(e)) ? x + ' ' + y : ''; };"
                + " return free() || (e.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' }), free()); })()";
        String[] last = {""};
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> {
                        String before = last[0];
                        last[0] = (String) value(point);
                        return !last[0].isEmpty() && last[0].equals(before);
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("cannot be clicked: " + selector + "\n" + picture(), e);
        }
        String[] at = last[0].split(" ");
        clickAt(Double.parseDouble(at[0]), Double.parseDouble(at[1]));
    }

    /**
     * Gives a field for a date the value of an expression, as the calendar of a browser does, which each engine draws
     * in its own way.
     */
    default void fill(String selector, String expression) {
        see(selector);
        value("(() => { const field = document.querySelector(" + quoted(selector) + "); field.value = " + expression
                + "; field.dispatchEvent(new Event('input', { bubbles: true })); return true; })()");
    }

    /** Text as a literal of JavaScript. */
    static String quoted(String text) {
        StringBuilder literal = new StringBuilder("'");
        for (char c : text.toCharArray()) {
            if (c < ' ' || c > '~' || c == '\'' || c == '\\') {
                literal.append(String.format("\\u%04x", (int) c));
            } else {
                literal.append(c);
            }
        }
        return literal.append('\'').toString();
    }
}
