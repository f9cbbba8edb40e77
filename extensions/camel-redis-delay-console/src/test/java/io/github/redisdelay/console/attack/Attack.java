// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.attack;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A request that a console has to refuse, at whichever server it comes.
 *
 * @param statuses one of these is the answer; 0 stands for a closed connection
 */
public record Attack(String name, byte[] request, Set<Integer> statuses) {

    /** Some servers answer OPTIONS themselves. One without a header for other sites is as good as none. */
    private static Set<Integer> refused(String method) {
        return method.equals("OPTIONS") ? Set.of(200, 404, 405) : Set.of(400, 404, 405, 501, 0);
    }

    /** The target of the attacks: a console that allows actions to local browsers. */
    public record Target(String host, int port, String base, String queue) {

        private String body() {
            return "{\"queue\":\"" + queue + "\"}";
        }

        private Map<String, String> headers() {
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("Host", host + ":" + port);
            headers.put("Connection", "close");
            return headers;
        }

        /** A request to see who one is, which is in order. */
        public byte[] look() {
            return get(base + "/api/me", headers -> {});
        }

        /** A change, which is in order: it pauses the queue. */
        public byte[] pause() {
            return post(headers -> {}, body());
        }

        /** The end of the pause. */
        public byte[] resume() {
            return post("/api/resume", headers -> {}, body());
        }

        private byte[] get(String path, Headers change) {
            return request("GET " + path + " HTTP/1.1", change, new byte[0], headers());
        }

        private byte[] post(Headers change, String body) {
            return post("/api/pause", change, body);
        }

        private byte[] post(String path, Headers change, String body) {
            return post(path, change, body.getBytes(StandardCharsets.UTF_8));
        }

        private byte[] post(String path, Headers change, byte[] body) {
            Map<String, String> headers = headers();
            headers.put("Content-Type", "application/json");
            headers.put("X-Redis-Delay-Console", "1");
            headers.put("Origin", "http://" + host + ":" + port);
            headers.put("Sec-Fetch-Site", "same-origin");
            headers.put("Content-Length", String.valueOf(body.length));
            return request("POST " + base + path + " HTTP/1.1", change, body, headers);
        }
    }

    /** The difference from a request in order. */
    private interface Headers {
        void change(Map<String, String> headers);
    }

    private static byte[] request(String line, Headers change, byte[] body, Map<String, String> headers) {
        change.change(headers);
        StringBuilder head = new StringBuilder(line).append("\r\n");
        // A name may come twice: all behind a # is no part of it.
        headers.forEach((name, value) -> head.append(name.replaceFirst("#.*", ""))
                .append(": ")
                .append(value)
                .append("\r\n"));
        byte[] begin = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = Arrays.copyOf(begin, begin.length + body.length);
        System.arraycopy(body, 0, all, begin.length, body.length);
        return all;
    }

    private static Headers with(String name, String value) {
        return headers -> headers.put(name, value);
    }

    private static Headers without(String name) {
        return headers -> headers.remove(name);
    }

    @Override
    public String toString() {
        return name;
    }

    /** All attacks on a console. */
    public static List<Attack> on(Target target) {
        List<Attack> all = new ArrayList<>();
        hosts(target, all);
        proxies(target, all);
        paths(target, all);
        methods(target, all);
        parameters(target, all);
        changes(target, all);
        bodies(target, all);
        return all;
    }

    private static void hosts(Target target, List<Attack> all) {
        String port = ":" + target.port();
        for (String host : List.of(
                "evil.com",
                "evil.com" + port,
                "localhost.evil.com" + port,
                "127.0.0.1.evil.com" + port,
                "localhost." + port,
                "evil-localhost" + port,
                "0.0.0.0" + port,
                "10.0.0.7" + port,
                "2130706433" + port,
                "0x7f.0.0.1" + port,
                "127.1" + port,
                "[::]" + port,
                "[fe80::1]" + port,
                "localhost",
                "localhost:1",
                "127.0.0.1:1",
                "[::1]:1",
                "127.0.0.2" + port + "0")) {
            all.add(new Attack(
                    "Host " + host, target.get(target.base() + "/api/me", with("Host", host)), Set.of(421, 400)));
            all.add(new Attack(
                    "change, Host " + host,
                    target.post(
                            headers -> {
                                headers.put("Host", host);
                                headers.put("Origin", "http://" + host);
                            },
                            target.body()),
                    Set.of(421, 400)));
        }
        for (String host : List.of(
                "",
                "localhost" + port + " evil.com",
                "localhost" + port + ",evil.com",
                "evil.com@localhost" + port,
                "localhost" + port + "/evil.com",
                "localhost:" + "port",
                "[::1].evil.com" + port,
                "localhost" + port + port)) {
            all.add(new Attack(
                    "Host '" + host + "'",
                    target.get(target.base() + "/api/me", with("Host", host)),
                    Set.of(400, 421, 0)));
            all.add(new Attack(
                    "change, Host '" + host + "'",
                    target.post(with("Host", host), target.body()),
                    Set.of(400, 421, 0)));
        }
        all.add(new Attack("no Host", target.get(target.base() + "/api/me", without("Host")), Set.of(400)));
        all.add(new Attack(
                "two Hosts", target.get(target.base() + "/api/me", with("Host#2", "evil.com")), Set.of(400, 0)));
        all.add(new Attack(
                "absolute address of another host",
                target.get("http://evil.com" + target.base() + "/api/me", headers -> {}),
                Set.of(400, 404, 421)));
        all.add(new Attack(
                "address that begins with two slashes",
                target.get("//evil.com" + target.base() + "/api/me", headers -> {}),
                Set.of(400, 404)));
    }

    private static void proxies(Target target, List<Attack> all) {
        for (String header : List.of(
                "X-Forwarded-For",
                "x-forwarded-host",
                "X-Forwarded-Proto",
                "X-Forwarded-User",
                "Forwarded",
                "Via",
                "X-Real-IP",
                "X_Forwarded_For",
                "X-Original-Host",
                "CF-Connecting-IP",
                "X-Envoy-External-Address")) {
            all.add(new Attack(
                    "forwarded by " + header,
                    target.get(target.base() + "/api/me", with(header, "127.0.0.1")),
                    Set.of(403)));
            all.add(new Attack(
                    "change, forwarded by " + header,
                    target.post(with(header, "127.0.0.1"), target.body()),
                    Set.of(403)));
        }
        all.add(new Attack(
                "the page, forwarded", target.get(target.base() + "/", with("Forwarded", "for=x")), Set.of(403)));
        all.add(new Attack(
                "empty X-Forwarded-For",
                target.get(target.base() + "/api/me", with("X-Forwarded-For", "")),
                Set.of(403)));
    }

    private static void paths(Target target, List<Attack> all) {
        for (String path : List.of(
                "/..%2f..%2fetc%2fpasswd",
                "/%2e%2e/%2e%2e/etc/passwd",
                "/../../../../etc/passwd",
                "/..\\..\\etc\\passwd",
                "/page/index.html",
                "/./page/../../RedisDelayConsole.class",
                "/io/github/redisdelay/console/RedisDelayConsole.class",
                "/RedisDelayConsole.class",
                "/index.html%00.js",
                "/index.html;x=1/",
                "/index.html/",
                "/INDEX.HTML",
                "/.html",
                "/api",
                "/api/",
                "/api%2fme",
                "/api%252fme",
                "/API/me",
                "/api/me/",
                "/api/me/..;/me",
                "/api//me",
                "/api/nothing",
                "/%",
                "/%zz",
                "/META-INF/MANIFEST.MF")) {
            all.add(new Attack("path " + path, target.get(target.base() + path, headers -> {}), Set.of(400, 404, 0)));
        }
    }

    private static void methods(Target target, List<Attack> all) {
        for (String method :
                List.of("HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT", "PROPFIND", "get")) {
            for (String path : List.of("/", "/api/me", "/api/pause")) {
                all.add(new Attack(
                        method + " " + path,
                        request(
                                method + " " + target.base() + path + " HTTP/1.1",
                                headers -> {},
                                new byte[0],
                                target.headers()),
                        refused(method)));
            }
        }
        all.add(new Attack(
                "asked by another site whether it may",
                request(
                        "OPTIONS " + target.base() + "/api/pause HTTP/1.1",
                        headers -> {
                            headers.put("Origin", "https://evil.com");
                            headers.put("Access-Control-Request-Method", "POST");
                            headers.put("Access-Control-Request-Headers", "content-type,x-redis-delay-console");
                        },
                        new byte[0],
                        target.headers()),
                refused("OPTIONS")));
        all.add(new Attack(
                "change by GET",
                target.get(target.base() + "/api/pause?queue=" + target.queue(), with("X-Redis-Delay-Console", "1")),
                Set.of(405)));
        all.add(new Attack("look by POST", target.post("/api/me", headers -> {}, target.body()), Set.of(405)));
        all.add(new Attack("the page by POST", target.post("/", headers -> {}, target.body()), Set.of(405)));
    }

    private static void parameters(Target target, List<Attack> all) {
        String change = target.base() + "/api/pause";
        UnaryOperator<String> line = query -> "POST " + change + query + " HTTP/1.1";
        Headers noHeader = headers -> {
            headers.remove("X-Redis-Delay-Console");
            headers.put("Content-Type", "application/json");
            headers.put("Content-Length", String.valueOf(target.body().length()));
        };
        for (String query : List.of(
                "?X-Redis-Delay-Console=1",
                "?x-redis-delay-console=1",
                "?queue=a;X-Redis-Delay-Console=1",
                "?queue=a&%58-Redis-Delay-Console=1",
                "?X%2DRedis%2DDelay%2DConsole=1")) {
            all.add(new Attack(
                    "own header in the address: " + query,
                    request(
                            line.apply(query),
                            noHeader,
                            target.body().getBytes(StandardCharsets.UTF_8),
                            target.headers()),
                    Set.of(400)));
        }
        all.add(new Attack(
                "own header and type in a form's fields",
                request(
                        line.apply(""),
                        headers -> {
                            headers.put("Content-Type", "application/x-www-form-urlencoded");
                            headers.put("Content-Length", "24");
                        },
                        "X-Redis-Delay-Console=1&".getBytes(StandardCharsets.UTF_8),
                        target.headers()),
                Set.of(415, 400)));
        for (String query : List.of(
                "?Host=localhost",
                "?Origin=x",
                "?X-Forwarded-For=1",
                "?id=a&id=b",
                "?id=%0d%0aSet-Cookie:%20a=b&x=%0d%0a",
                "?id=%c3%28",
                "?id=%ff",
                "?id=%",
                "?id=%4",
                "?unknown=1",
                "?CamelHttpPath=/redis-delay/api/queues",
                "?CamelHttpMethod=POST")) {
            all.add(new Attack(
                    "query " + query, target.get(target.base() + "/api/me" + query, headers -> {}), Set.of(400)));
        }
        all.add(new Attack(
                "20 KiB of headers",
                target.get(target.base() + "/api/me", with("X-Large", "x".repeat(20 * 1024))),
                Set.of(431, 400, 413, 0)));
        all.add(new Attack(
                "300 headers",
                target.get(target.base() + "/api/me", headers -> {
                    for (int i = 0; i < 300; i++) {
                        headers.put("X-Header-" + i, "x".repeat(60));
                    }
                }),
                Set.of(431, 400, 413, 0)));
    }

    private static void changes(Target target, List<Attack> all) {
        String host = target.host() + ":" + target.port();
        all.add(new Attack("no own header", target.post(without("X-Redis-Delay-Console"), target.body()), Set.of(403)));
        all.add(new Attack(
                "own header is true", target.post(with("X-Redis-Delay-Console", "true"), target.body()), Set.of(403)));
        for (String type : List.of(
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "text/plain; application/json",
                "application/jsonp",
                "application/json, text/plain",
                "application/json; charset=utf-16",
                "application/xml",
                "application/x-java-serialized-object")) {
            // Camel's components may fail at a form that is none, before the console sees it.
            all.add(new Attack(
                    "type " + type,
                    target.post(with("Content-Type", type), target.body()),
                    type.contains("form") ? Set.of(415, 400, 500) : Set.of(415)));
        }
        all.add(new Attack("no type", target.post(without("Content-Type"), target.body()), Set.of(415)));
        for (String origin : List.of(
                "null",
                "http://evil.com",
                "https://evil.com",
                "http://" + target.host(),
                "http://" + target.host() + ":1",
                "https://" + host,
                "http://" + host + ".evil.com",
                "http://evil.com?" + host,
                "http://user@" + host,
                "file://" + host,
                "chrome-extension://" + host,
                "")) {
            all.add(new Attack(
                    "Origin '" + origin + "'", target.post(with("Origin", origin), target.body()), Set.of(403)));
        }
        all.add(new Attack(
                "two Origins", target.post(with("Origin#2", "http://evil.com"), target.body()), Set.of(403)));
        for (String site : List.of("cross-site", "same-site", "SAME-ORIGIN", "same-origin, cross-site")) {
            all.add(new Attack(
                    "change, Sec-Fetch-Site " + site,
                    target.post(with("Sec-Fetch-Site", site), target.body()),
                    Set.of(403)));
            all.add(new Attack(
                    "look, Sec-Fetch-Site " + site,
                    target.get(target.base() + "/api/me", with("Sec-Fetch-Site", site)),
                    Set.of(403)));
        }
    }

    private static void bodies(Target target, List<Attack> all) {
        for (String body : List.of(
                "",
                "[]",
                "1",
                "null",
                "\"queue\"",
                "{",
                "{\"queue\":1}",
                "{\"queue\":null}",
                "{\"queue\":{}}",
                "{}",
                "[".repeat(30_000),
                "{\"a\":".repeat(10_000),
                "{\"queue\":\"" + target.queue() + "\",\"x\":" + "[".repeat(30_000) + "]".repeat(30_000) + "}",
                "{\"queue\":\"" + target.queue() + "\",\"x\":1e99999999999999}",
                target.body() + target.body(),
                "{\"queue\":\"other\"," + target.body().substring(1),
                "{\"\\u0071ueue\":\"other\"," + target.body().substring(1),
                "queue=" + target.queue())) {
            all.add(new Attack(
                    "body " + (body.length() > 40 ? body.substring(0, 10) + "…" : body),
                    target.post(headers -> {}, body),
                    Set.of(400)));
        }
        all.add(new Attack(
                "queue with half of a surrogate pair, which would become another's name",
                target.post(headers -> {}, "{\"queue\":\"" + target.queue() + "\\ud800\"}"),
                Set.of(400, 404)));
        all.add(new Attack(
                "body that is not UTF-8",
                target.post("/api/pause", headers -> {}, new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'}),
                Set.of(400)));
        byte[] large = ("{\"queue\":\"" + target.queue() + "\",\"x\":\"" + "x".repeat(5 * 1024 * 1024) + "\"}")
                .getBytes(StandardCharsets.UTF_8);
        all.add(new Attack("body of 5 MiB", target.post("/api/pause", headers -> {}, large), Set.of(413)));
        byte[] slightly = (target.body() + " ".repeat(64 * 1024)).getBytes(StandardCharsets.UTF_8);
        all.add(new Attack("body of 64 KiB and some", target.post("/api/pause", headers -> {}, slightly), Set.of(413)));
        all.add(new Attack(
                "body of 100 KiB in chunks",
                target.post(
                        "/api/pause",
                        headers -> {
                            headers.remove("Content-Length");
                            headers.put("Transfer-Encoding", "chunked");
                        },
                        ("19000\r\n" + target.body()
                                        + " ".repeat(0x19000 - target.body().length()) + "\r\n0\r\n\r\n")
                                .getBytes(StandardCharsets.UTF_8)),
                Set.of(413)));
        all.add(new Attack(
                "length that is none", target.post(with("Content-Length", "-1"), target.body()), Set.of(400, 0)));
        all.add(new Attack("two lengths", target.post(with("Content-Length#2", "3"), target.body()), Set.of(400, 0)));
    }
}
