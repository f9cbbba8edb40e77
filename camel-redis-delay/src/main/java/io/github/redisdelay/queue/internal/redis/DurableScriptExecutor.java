// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.exception.DurabilityUnavailableException;
import io.github.redisdelay.queue.exception.ErrorText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.RedissonKeys;
import org.redisson.RedissonObject;
import org.redisson.RedissonScript;
import org.redisson.api.BatchOptions;
import org.redisson.api.RFuture;
import org.redisson.api.RKeys;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.RedisStrictCommand;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.command.CommandBatchService;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.connection.NodeSource;

/**
 * Script calls with a wait directly behind them: for replicas, or for the disk. A call and its wait are one batch on
 * one connection. Redisson takes that connection out of its pool until the answer is there, so other calls are not held
 * up; in a pool of one connection they are.
 *
 * <p>This is the only class that uses Redisson's inside, which no release promises to keep:
 *
 * <ul>
 *   <li>{@link RedissonKeys} gives the executor of a client, and the executor tells the client's configuration;
 *   <li>{@link CommandBatchService} is the batch, and this class overrides its method {@code async};
 *   <li>{@link RedissonScript} puts a script call into the batch;
 *   <li>{@link RedissonObject} tells what a NameMapper makes of a name.
 * </ul>
 *
 * <p>The public {@code RBatch} is not enough: it cannot read {@code appendfsync} on the connection of the wait, does not
 * send {@code WAITAOF} without replicas, does not tell what that answered for the master, and keeps the first answer to
 * {@code WAIT} where a node of a cluster has sent the batch on to another node.
 */
public final class DurableScriptExecutor {

    /** A call of a script. */
    record ScriptCall(LuaScript script, List<Object> keys, Object[] arguments) {}

    private final RedissonClient redisson;
    private final ScriptExecutor plain;
    /**
     * True while Redis is known to wait for what is wanted: the last one that was asked did. Several threads may find
     * that, or the contrary, at the same time.
     */
    private volatile boolean known;

    /** @param plain calls a script without waiting, and makes sure that Redis knows it */
    DurableScriptExecutor(RedissonClient redisson, ScriptExecutor plain) {
        this.redisson = redisson;
        this.plain = plain;
    }

    /**
     * Executes calls of one queue and has Redis wait behind them.
     *
     * @param calls the last one is of {@link LuaScript#REPLICATION}; the reply is the first one's
     */
    CompletableFuture<DurableReply> call(List<ScriptCall> calls, int attempt, Durability wanted) {
        // To refuse the wait for what is done already would undo nothing.
        return (calls.get(0).script() == LuaScript.REPLICATION
                        ? CompletableFuture.<Void>completedFuture(null)
                        : check(calls.get(1), attempt, wanted))
                .thenCompose(ok -> send(calls, attempt, wanted));
    }

    static String nameInRedis(RedissonClient redisson, String key) {
        return redisson.getBucket(key) instanceof RedissonObject object ? object.getRawName() : key;
    }

    private static boolean isServersRefusal(Throwable error) {
        return RedisErrors.isRefusal(error) && !RedisErrors.isClosed(error);
    }

    /**
     * Asks, before anything is stored, whether this Redis can wait for what is wanted. The server may not know the
     * command, or answer too early; the user may not be allowed to use it; or there is no append-only file.
     *
     * @param marker of {@link LuaScript#REPLICATION}
     * @return fails with a {@link DurabilityUnavailableException}
     */
    CompletableFuture<Void> check(ScriptCall marker, int attempt, Durability wanted) {
        return known
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.<Void>completedFuture(null).thenCompose(none -> ask(marker, attempt, wanted));
    }

    private CompletableFuture<Void> ask(ScriptCall marker, int attempt, Durability wanted) {
        Duration limit = longestWait();
        if (wanted.timeout().compareTo(limit) >= 0) {
            return CompletableFuture.failedFuture(new DurabilityUnavailableException(wanted, limit));
        }
        Durability nothing = new Durability(0, wanted.disk(), Duration.ofMillis(1));
        return send(List.of(marker), attempt, nothing).thenCompose(answer -> {
            Throwable refusal = answer.unmet() == null ? null : answer.unmet().refusal();
            if (refusal != null) {
                return CompletableFuture.failedFuture(new DurabilityUnavailableException(wanted, refusal));
            }
            known = true;
            return CompletableFuture.completedFuture(null);
        });
    }

    /**
     * The longest wait of a connection. It answers no ping meanwhile, and Redisson closes a connection that does not
     * answer.
     */
    private Duration longestWait() {
        BaseMasterSlaveServersConfig<?> config = executor().getServiceManager().getConfig();
        int interval = config.getPingConnectionInterval();
        return interval == 0
                ? Duration.ofMillis(Long.MAX_VALUE)
                : Duration.ofMillis(Math.max(config.getTimeout(), interval / 2));
    }

    private CompletableFuture<DurableReply> send(List<ScriptCall> calls, int attempt, Durability wanted) {
        return sendOnce(calls, attempt, wanted)
                .exceptionallyCompose(e -> ErrorText.unwrap(e) instanceof RedisNoScriptException
                        ? load(calls, attempt, wanted)
                        : CompletableFuture.failedFuture(e));
    }

    /**
     * Sends the scripts to a Redis that does not know them, by a call of each, and then the batch. The first call is
     * executed once, although it is sent twice. If Redis refuses what follows, that call has been executed all the
     * same.
     */
    private CompletableFuture<DurableReply> load(List<ScriptCall> calls, int attempt, Durability wanted) {
        return plain(calls.get(0), attempt).thenCompose(reply -> plain(calls.get(calls.size() - 1), attempt)
                .thenCompose(loaded -> sendOnce(calls, attempt, wanted))
                .exceptionallyCompose(e -> {
                    Throwable error = ErrorText.unwrap(e);
                    return isServersRefusal(error)
                            ? CompletableFuture.completedFuture(new DurableReply(
                                    reply,
                                    UnmetDurability.missing(wanted, null, UnmetDurability.UNKNOWN_HISTORY, error)))
                            : CompletableFuture.failedFuture(e);
                }));
    }

    private CompletableFuture<Object> plain(ScriptCall call, int attempt) {
        return plain.call(call.script(), call.keys(), call.arguments(), attempt);
    }

    /**
     * Sends calls in one batch, and a wait behind them.
     *
     * @param calls the last one is of {@link LuaScript#REPLICATION}
     * @return fails if the first call was not executed, or if that is not known
     */
    private CompletableFuture<DurableReply> sendOnce(List<ScriptCall> calls, int attempt, Durability wanted) {
        Batch batch;
        List<CompletableFuture<Object>> replies = new ArrayList<>(calls.size());
        AtomicBoolean disordered = new AtomicBoolean();
        CompletableFuture<?> sent;
        try {
            batch = new Batch(
                    executor(), RedissonScriptExecutor.timeout(attempt).plus(wanted.timeout()));
            for (ScriptCall call : calls) {
                CompletableFuture<Object> before = replies.isEmpty() ? null : replies.get(replies.size() - 1);
                CompletableFuture<Object> reply = batch.call(call);
                reply.whenComplete((answer, error) -> {
                    if (before != null && !before.isDone()) {
                        disordered.set(true);
                    }
                });
                replies.add(reply);
            }
            batch.await(wanted);
            sent = batch.executeAsync().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return sent.handle((all, failure) -> {
                    if (replies.stream().allMatch(DurableScriptExecutor::isAnswered) && disordered.get()) {
                        // A node has sent some of the commands on to another node. So the wait and the history may
                        // be those of another server than the call's.
                        return CompletableFuture.<DurableReply>failedFuture(
                                new RedisTimeoutException("the commands were not executed one after the other"));
                    }
                    CompletableFuture<Object> first = replies.get(0);
                    String history = history(replies.get(replies.size() - 1));
                    Throwable error = failure == null ? batch.fault() : ErrorText.unwrap(failure);
                    // A command behind the first call has failed. If Redis has refused it, the call stands. If there is
                    // no answer, the call is repeated.
                    boolean refused = error != null && isAnswered(first) && isServersRefusal(error);
                    if (refused) {
                        known = false; // another server, another configuration, or other permissions
                    }
                    return error == null || refused
                            ? CompletableFuture.completedFuture(new DurableReply(
                                    first.join(),
                                    UnmetDurability.missing(
                                            wanted, error == null ? batch.waited : null, history, error)))
                            : CompletableFuture.<DurableReply>failedFuture(error);
                })
                .thenCompose(answers -> answers);
    }

    private static boolean isAnswered(CompletableFuture<Object> reply) {
        return reply.isDone() && !reply.isCompletedExceptionally();
    }

    private static String history(CompletableFuture<Object> reply) {
        return isAnswered(reply) && reply.join() instanceof byte[] id && id.length > 0
                ? new String(id, StandardCharsets.US_ASCII)
                : UnmetDurability.UNKNOWN_HISTORY;
    }

    private CommandAsyncExecutor executor() {
        RKeys keys = redisson.getKeys();
        if (keys instanceof RedissonKeys own) {
            return own.getCommandExecutor();
        }
        throw new DurabilityUnavailableException(redisson.getClass());
    }

    /** A batch of commands for one node. One thread makes and sends it. */
    private static final class Batch extends CommandBatchService {

        /** The node that the scripts go to. The wait has to go there, too. */
        private NodeSource node;
        /**
         * The last answer. There is a second answer where a node has sent the batch on to another node. Written by
         * Redisson's thread.
         */
        private volatile Waited waited;
        /**
         * The server's answer to {@code INFO}; null if it was not asked, where the wait is not for the disk. Both are written by
         * Redisson's thread.
         */
        private volatile String info;

        private volatile String policy = "unknown";

        Batch(CommandAsyncExecutor executor, Duration timeout) {
            super(
                    executor,
                    BatchOptions.defaults()
                            .responseTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
                            .retryAttempts(0));
        }

        CompletableFuture<Object> call(ScriptCall call) {
            return new RedissonScript(this, ByteArrayCodec.INSTANCE)
                    .<Object>evalShaAsync(
                            RScript.Mode.READ_WRITE,
                            call.script().sha(),
                            RScript.ReturnType.VALUE,
                            call.keys(),
                            call.script().sent(call.arguments()))
                    .toCompletableFuture();
        }

        void await(Durability wanted) {
            long millis = wanted.timeout().toMillis();
            if (wanted.disk()) {
                // Each time: the next answer may be another server's, or that of another configuration.
                send(new RedisStrictCommand<>("INFO", reply -> info = text(reply)), "server");
                RedisCommand<List<Object>> configured = new RedisCommand<>("CONFIG", "GET", (parts, state) -> {
                    policy = parts.size() == 2 ? text(parts.get(1)) : "unknown";
                    return parts;
                });
                send(configured, "appendfsync");
                RedisCommand<List<Integer>> command = new RedisCommand<>("WAITAOF", (parts, state) -> {
                    Waited answer = Waited.ofWaitaof(parts);
                    waited = answer;
                    // Redisson wants both figures, else the batch never ends.
                    return List.of(answer.onDisk() ? 1 : 0, answer.replicas());
                });
                send(command, 1, wanted.replicas(), millis);
            } else {
                RedisCommand<Integer> command = new RedisStrictCommand<>("WAIT", reply -> {
                    int replicas = ((Number) reply).intValue();
                    waited = new Waited(false, replicas);
                    return replicas;
                });
                send(command, wanted.replicas(), millis);
            }
        }

        private static String text(Object bytes) {
            return new String((byte[]) bytes, StandardCharsets.UTF_8);
        }

        private <T> void send(RedisCommand<T> command, Object... parameters) {
            super.async(false, node, ByteArrayCodec.INSTANCE, command, parameters, false, false);
        }

        /** The error where the answer to WAITAOF proves nothing; null if there is none, or no such wait. */
        DurabilityUnavailableException fault() {
            String fault = info == null ? null : new AofServer(info, policy).fault();
            return fault == null ? null : new DurabilityUnavailableException(fault);
        }

        @Override
        public <V, R> RFuture<R> async(
                boolean readOnlyMode,
                NodeSource nodeSource,
                Codec codec,
                RedisCommand<V> command,
                Object[] params,
                boolean ignoreRedirect,
                boolean noRetry) {
            node = nodeSource;
            return super.async(readOnlyMode, nodeSource, codec, command, params, ignoreRedirect, noRetry);
        }
    }
}
