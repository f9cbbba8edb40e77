// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import javax.xml.transform.Source;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamSource;
import org.apache.camel.Exchange;
import org.apache.camel.StreamCache;
import org.apache.camel.WrappedFile;
import org.w3c.dom.Node;

/**
 * Reads bodies, up to a limit.
 *
 * <p>Null, {@code byte[]}, {@code String}, {@code Boolean} and the numbers of {@code java.lang} and {@code java.math}
 * are stored as they are. Streams, files and byte buffers are stored as their bytes; readers, a {@code Character} or
 * several, DOM nodes and XML sources as text. Any other body is refused: Camel would call {@code toString}, which never
 * fails and rarely says what the message was.
 *
 * @param maximumMessageSize the most bytes that are read
 */
record BodyReader(int maximumMessageSize) {

    /**
     * The body as one of the types that an envelope holds.
     *
     * @throws IllegalArgumentException if it cannot be stored, or is larger than the limit
     * @throws UncheckedIOException if it cannot be read
     */
    Object read(Object body, Exchange exchange) {
        try {
            return stored(body, exchange);
        } catch (IOException e) {
            throw new UncheckedIOException("body of type " + typeName(body) + " cannot be read: " + e.getMessage(), e);
        }
    }

    private Object stored(Object body, Exchange exchange) throws IOException {
        if (body == null || body instanceof byte[] || body instanceof Boolean || isNumber(body)) {
            return body;
        }
        if (body instanceof StreamCache cache) {
            // A step before may have read some of it.
            cache.reset();
            try {
                return read(cache);
            } finally {
                cache.reset();
            }
        }
        if (body instanceof InputStream stream) {
            try (stream) {
                return read(stream);
            }
        }
        if (body instanceof Reader reader) {
            try (reader) {
                return read(reader);
            }
        }
        if (body instanceof CharSequence || body instanceof Character || body instanceof char[]) {
            String text = body instanceof char[] characters ? new String(characters) : body.toString();
            checkLength(text.length());
            return text;
        }
        if (body instanceof ByteBuffer buffer) {
            checkLength(buffer.remaining());
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return bytes;
        }
        if (body instanceof File file) {
            checkLength(file.length());
            return stored(Files.newInputStream(file.toPath()), exchange);
        }
        if (body instanceof WrappedFile<?> wrapped) {
            return read(wrapped, exchange);
        }
        if (body instanceof StreamSource source) {
            return read(source);
        }
        if (body instanceof Node || body instanceof Source) {
            return xmlText(body instanceof Node node ? new DOMSource(node) : (Source) body, body, exchange);
        }
        throw new IllegalArgumentException(
                "body of type " + typeName(body) + " cannot be stored: marshal it first, e.g. .marshal().json()");
    }

    static boolean isNumber(Object value) {
        return value instanceof BigDecimal
                || value instanceof BigInteger
                || value instanceof Number && value.getClass().getPackageName().equals("java.lang");
    }

    private Object read(StreamCache cache) throws IOException {
        checkLength(cache.length());
        if (cache instanceof InputStream stream) {
            return read(stream);
        }
        if (cache instanceof Reader reader) {
            return read(reader);
        }
        if (cache instanceof StreamSource source) {
            return read(source);
        }
        LimitedOutput out = new LimitedOutput();
        cache.writeTo(out);
        return out.toByteArray();
    }

    private byte[] read(InputStream stream) throws IOException {
        byte[] bytes = stream.readNBytes(maximumMessageSize + 1);
        checkLength(bytes.length);
        return bytes;
    }

    /** No character takes less than a byte, so a text of more characters than the limit is too large in any case. */
    private String read(Reader reader) throws IOException {
        StringBuilder text = new StringBuilder();
        char[] buffer = new char[Math.min(8192, maximumMessageSize + 1)];
        int count;
        while ((count = reader.read(buffer, 0, Math.min(buffer.length, maximumMessageSize + 1 - text.length()))) > 0) {
            text.append(buffer, 0, count);
        }
        checkLength(text.length());
        return text.toString();
    }

    private Object read(WrappedFile<?> wrapped, Exchange exchange) throws IOException {
        Object content = wrapped.getBody();
        if (content == null && wrapped.getFile() instanceof File) {
            content = wrapped.getFile();
        }
        if (content == null || content instanceof WrappedFile) {
            content = exchange.getContext().getTypeConverter().tryConvertTo(InputStream.class, exchange, wrapped);
        }
        if (content == null) {
            throw new IllegalArgumentException("body of type " + typeName(wrapped)
                    + " cannot be stored: its content cannot be had, neither from getBody() nor as an InputStream");
        }
        return stored(content, exchange);
    }

    /**
     * Characters are stored as text, bytes as bytes: their encoding is declared inside, and to turn them into text they
     * would have to be parsed.
     */
    private Object read(StreamSource source) throws IOException {
        Reader reader = source.getReader();
        InputStream stream = source.getInputStream();
        // Camel's BytesSource offers both, and its reader decodes by the platform's charset.
        boolean readerOfBytes = stream != null && reader instanceof InputStreamReader;
        if (reader != null && !readerOfBytes) {
            return read(reader);
        }
        if (stream != null) {
            return read(stream);
        }
        throw new IllegalArgumentException("body of type " + typeName(source)
                + " cannot be stored: it has neither a reader nor a stream, and what it refers to is not fetched");
    }

    private String xmlText(Source source, Object body, Exchange exchange) {
        // Without a converter for the type, Camel falls back to toString.
        if (exchange.getContext().getTypeConverterRegistry().lookup(String.class, source.getClass()) == null) {
            throw new IllegalArgumentException("body of type " + typeName(body)
                    + " cannot be stored: there is no converter for XML, add camel-xml-jaxp to the class path");
        }
        return exchange.getContext().getTypeConverter().convertTo(String.class, exchange, source);
    }

    private void checkLength(long atLeast) {
        if (atLeast > maximumMessageSize) {
            throw tooLarge("has " + atLeast + " bytes or more");
        }
    }

    IllegalArgumentException tooLarge(String size) {
        return new IllegalArgumentException("the message cannot be stored: it " + size
                + ", option 'maximumMessageSize' allows " + maximumMessageSize
                + "; keep the data elsewhere and send a reference, or raise the option");
    }

    private static String typeName(Object value) {
        return value.getClass().getTypeName();
    }

    /** Keeps what is written to it, up to the size limit. */
    private final class LimitedOutput extends ByteArrayOutputStream {

        @Override
        public synchronized void write(int octet) {
            checkLength(count + 1L);
            super.write(octet);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            checkLength((long) count + length);
            super.write(bytes, offset, length);
        }
    }
}
