// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.util.BitSet;
import java.util.regex.Pattern;

/**
 * A strict reader of JSON (RFC 8259) that keeps numbers and texts as they are written. Camel's own JSON parser is none:
 * it accepts {@code [1 2]}, {@code [01]} and {@code [1,2,]}, drops a member whose name comes twice, and makes
 * {@code 0.0} of {@code -0.0}.
 */
final class JsonText {

    /** How deep arrays and objects may be in each other. */
    static final int MAX_DEPTH = 500;

    private static final String CLASS_MEMBER = "\"@class\"";

    /**
     * A text with the name of a class: of an array, or with a point and an upper-case letter after the last one. Its
     * groups are repeated possessively, which takes no stack however long the text is.
     */
    private static final Pattern CLASS_NAME =
            Pattern.compile("\"(\\[+([BCDFIJSZ]|L[\\w$.]++;)|([\\w$]++\\.)++[A-Z][\\w$]*+(<[\\w$.,<>\\[;]*>)?)\"");

    private final String text;
    private int position;

    /** The positions at which an array begins that may be a class and a value; known after the first pass. */
    private final BitSet pairs = new BitSet();

    private boolean hasClassMembers;

    /** The output of the second pass; null in the first. */
    private StringBuilder out;

    private JsonText(String text) {
        this.text = text;
        document();
    }

    /**
     * The text, if it is JSON.
     *
     * @throws ImportRefusedException if it is not
     */
    static String checked(String text) {
        new JsonText(text);
        return text;
    }

    /**
     * True if a class is named in it, as {@code JsonJacksonCodec} does.
     *
     * @throws ImportRefusedException if it is no JSON
     */
    static boolean namesClasses(String text) {
        JsonText json = new JsonText(text);
        return json.hasClassMembers || !json.pairs.isEmpty();
    }

    /**
     * The text without the names of classes.
     *
     * @throws ImportRefusedException if it is no JSON
     */
    static String withoutClasses(String text) {
        JsonText json = new JsonText(text);
        json.position = 0;
        json.out = new StringBuilder(text.length());
        json.document();
        return json.out.toString();
    }

    private void document() {
        skipSpace();
        value(0, false);
        skipSpace();
        if (position < text.length()) {
            throw refused("nothing more");
        }
    }

    /** @param isContent whether it stands behind the name of its class, and so is none with a name itself */
    private void value(int depth, boolean isContent) {
        if (depth > MAX_DEPTH) {
            throw new ImportRefusedException("its JSON is more than " + MAX_DEPTH + " levels deep");
        }
        int start = position;
        switch (peek()) {
            case '{' -> object(depth);
            case '[' -> {
                if (out != null && !isContent && pairs.get(position)) {
                    pair(depth);
                } else {
                    array(depth);
                }
            }
            case '"' -> string();
            case 't' -> literal("true");
            case 'f' -> literal("false");
            case 'n' -> literal("null");
            default -> number();
        }
        char first = text.charAt(start);
        if (first != '{' && first != '[') {
            write(start);
        }
    }

    private void object(int depth) {
        expect('{');
        write("{");
        String separator = "";
        skipSpace();
        if (peek() != '}') {
            do {
                skipSpace();
                int name = position;
                string();
                int nameEnd = position;
                skipSpace();
                expect(':');
                skipSpace();
                if (peek() == '"' && text.substring(name, nameEnd).equals(CLASS_MEMBER)) {
                    hasClassMembers = true;
                    string();
                } else {
                    write(separator);
                    write(text.substring(name, nameEnd));
                    write(":");
                    value(depth + 1, false);
                    separator = ",";
                }
            } while (goesOn());
        }
        expect('}');
        write("}");
    }

    private void array(int depth) {
        int start = position;
        expect('[');
        write("[");
        int count = 0;
        boolean beginsWithClass = false;
        skipSpace();
        if (peek() != ']') {
            do {
                skipSpace();
                int element = position;
                if (count > 0) {
                    write(",");
                }
                value(depth + 1, false);
                if (count++ == 0) {
                    beginsWithClass = isClassName(element);
                }
            } while (goesOn());
        }
        expect(']');
        write("]");
        if (count == 2 && beginsWithClass) {
            pairs.set(start);
        }
    }

    private boolean isClassName(int start) {
        return text.charAt(start) == '"'
                && CLASS_NAME.matcher(text).region(start, position).matches();
    }

    /** The second element of an array that has a class and a value. */
    private void pair(int depth) {
        expect('[');
        skipSpace();
        string();
        skipSpace();
        expect(',');
        skipSpace();
        value(depth + 1, true);
        skipSpace();
        expect(']');
    }

    private boolean goesOn() {
        skipSpace();
        if (peek() != ',') {
            return false;
        }
        position++;
        return true;
    }

    private void string() {
        expect('"');
        char c;
        while ((c = next()) != '"') {
            if (c < ' ') {
                position--;
                throw refused("no control character in a text");
            }
            if (c == '\\') {
                escape();
            }
        }
    }

    private void escape() {
        char c = next();
        if (c == 'u') {
            for (int i = 0; i < 4; i++) {
                if (Character.digit(peek(), 16) < 0 || peek() > 'f') {
                    throw refused("a hexadecimal digit");
                }
                position++;
            }
        } else if ("\"\\/bfnrt".indexOf(c) < 0) {
            position--;
            throw refused("one of \"\\/bfnrtu");
        }
    }

    private void number() {
        if (peek() == '-') {
            position++;
        }
        if (peek() == '0') {
            position++;
        } else {
            digits();
        }
        if (peek() == '.') {
            position++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            position++;
            if (peek() == '+' || peek() == '-') {
                position++;
            }
            digits();
        }
    }

    private void digits() {
        if (peek() < '0' || peek() > '9') {
            throw refused("a value or a digit");
        }
        while (peek() >= '0' && peek() <= '9') {
            position++;
        }
    }

    private void literal(String literal) {
        if (!text.startsWith(literal, position)) {
            throw refused(literal);
        }
        position += literal.length();
    }

    private void skipSpace() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private void expect(char expected) {
        if (peek() != expected) {
            throw refused("'" + expected + "'");
        }
        position++;
    }

    /** The character here, or U+0000 at the end: that is none of JSON's own. */
    private char peek() {
        return position < text.length() ? text.charAt(position) : 0;
    }

    private char next() {
        if (position >= text.length()) {
            throw refused("the end of a text");
        }
        return text.charAt(position++);
    }

    private void write(int start) {
        if (out != null) {
            out.append(text, start, position);
        }
    }

    private void write(String written) {
        if (out != null) {
            out.append(written);
        }
    }

    private ImportRefusedException refused(String expected) {
        return new ImportRefusedException("it is no JSON: at character " + position + " there is "
                + (position < text.length() ? "not " : "the end and not ") + expected);
    }
}
