// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The files of the page, from the jar. A browser asks each time whether its copy is still good, and mostly gets no new
 * one.
 */
final class Pages {

    /** A name has no slash and no second dot, so it leads to no other folder. */
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,40}\\.(html|js|css|svg)");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private record File(String etag, byte[] bytes) {}

    /** Only those that exist. */
    private final Map<String, File> files = new ConcurrentHashMap<>();

    /** A file; empty if there is none of this name. */
    Optional<Response> get(String path, Request request) {
        String name = path.isEmpty() ? "index.html" : path;
        if (!NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        File file = files.computeIfAbsent(name, Pages::read);
        if (file == null) {
            return Optional.empty();
        }
        boolean known =
                request.header("if-none-match").filter(file.etag()::equals).isPresent();
        String type = TYPES.get(name.substring(name.indexOf('.') + 1));
        return Optional.of(Response.of(known ? 304 : 200, known ? null : type, known ? new byte[0] : file.bytes())
                .with("Cache-Control", "no-cache")
                .with("ETag", file.etag()));
    }

    private static File read(String name) {
        try (InputStream in = Pages.class.getResourceAsStream("/io/github/redisdelay/console/page/" + name)) {
            if (in == null) {
                return null;
            }
            byte[] bytes = in.readAllBytes();
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return new File('"' + HexFormat.of().formatHex(digest, 0, 12) + '"', bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
