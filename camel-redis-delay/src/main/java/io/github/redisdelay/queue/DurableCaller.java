// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.RedissonKeys;
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
 * Calls scripts through Redisson and has Redis wait for replicas, or for the disk, directly behind them: in one batch, on one
 * connection. That connection is taken out of the pool for so long, so that others are not held up; in a pool of one it
 * holds up everything.
 *
 * <p>The batch is one of Redisson's inside: {@code RBatch} neither sends {@code WAITAOF} without replicas nor says what it
 * answered for the master, and it keeps the first answer to {@code WAIT} where a node of a cluster has sent the batch on to
 * another one.
 */
final class DurableCaller {

    /** A script with all that it needs. */
    record ScriptCall(LuaScript script, List<Object> keys, Object[] arguments) {}

    /** What came back of a batch. {@code waited} is null if it did not wait, or Redis refused to. */
    private record Answers(List<Object> replies, Waited waited, Throwable refusal) {}

    /**
     * A call that was executed.
     *
     * @param before where the master was before it, as {@link LuaScript#REPLICATION} answers; null if that is not known
     * @param behind where it was behind it; null if that was not asked
     * @param answers of its batch
     */
    private record Executed(Object reply, Object before, Object behind, Answers answers) {}

    /** What WAIT or WAITAOF answered. */
    record Waited(boolean onDisk, int replicas) {

        /** @param reply to WAITAOF: on how many disks of the master it is, 0 or 1, and on those of how many replicas */
        static Waited ofWaitaof(List<Object> reply) {
            return new Waited(((Number) reply.get(0)).intValue() > 0, ((Number) reply.get(1)).intValue());
        }

        boolean satisfies(Durability wanted) {
            return replicas >= wanted.replicas() && (onDisk || !wanted.disk());
        }
    }

    /** The argument of {@link LuaScript#REPLICATION} that has it write nothing. */
    private static final byte[] LOOK = {'l', 'o', 'o', 'k'};

    private final RedissonClient redisson;
    private final RedisCaller plain;
    /** Whether this Redis was found to wait for what is wanted. It may be asked more than once. */
    private volatile boolean known;

    /** @param plain calls a script without waiting, and makes sure that Redis knows it */
    DurableCaller(RedissonClient redisson, RedisCaller plain) {
        this.redisson = redisson;
        this.plain = plain;
    }

    /** As {@link RedisCaller#callDurably}. */
    CompletableFuture<DurableReply> call(ScriptCall call, int attempt, Durability wanted) {
        return available(call.keys(), attempt, wanted)
                .thenCompose(ok -> attempt == 1 ? sendFirst(call, wanted) : repeat(call, attempt, wanted))
                .exceptionallyCompose(e -> RedisErrors.unwrap(e) instanceof RedisNoScriptException
                        ? load(call, attempt, wanted)
                        : CompletableFuture.failedFuture(e))
                .thenCompose(executed -> executed.answers().waited() != null
                                && executed.answers().waited().satisfies(wanted)
                        ? CompletableFuture.completedFuture(new DurableReply(executed.reply(), null))
                        : locate(call, attempt, wanted, executed));
    }

    private CompletableFuture<Executed> sendFirst(ScriptCall call, Durability wanted) {
        ScriptCall look = new ScriptCall(LuaScript.REPLICATION, calls(call.keys()), new Object[] {LOOK});
        return send(List.of(look, call), 1, wanted)
                .thenApply(answers ->
                        new Executed(answers.replies().get(1), answers.replies().get(0), null, answers));
    }

    /** It may have been executed before: where the master was then is not known. */
    private CompletableFuture<Executed> repeat(ScriptCall call, int attempt, Durability wanted) {
        return send(List.of(call, position(call.keys())), attempt, wanted)
                .thenApply(answers -> new Executed(
                        answers.replies().get(0), null, answers.replies().get(1), answers));
    }

    /** As {@link RedisCaller#awaitDurable}. */
    CompletableFuture<DurableReply> await(List<Object> keys, int attempt, Durability wanted) {
        ScriptCall position = new ScriptCall(LuaScript.REPLICATION, keys, new Object[0]);
        return available(keys, attempt, wanted)
                .thenCompose(ok -> send(List.of(position), attempt, wanted))
                .exceptionallyCompose(e -> RedisErrors.unwrap(e) instanceof RedisNoScriptException
                        ? plain.call(position.script(), position.keys(), position.arguments(), attempt)
                                .thenCompose(loaded -> send(List.of(position), attempt, wanted))
                        : CompletableFuture.failedFuture(e))
                .thenApply(answers -> {
                    Object info = answers.replies().get(0);
                    return new DurableReply(info, missing(wanted, answers.waited(), answers.refusal()));
                });
    }

    /**
     * The same call again, which changes nothing, and where the master is in its history behind it. What was executed stays so if
     * Redis refuses that; then its place is not known.
     */
    private CompletableFuture<DurableReply> locate(ScriptCall call, int attempt, Durability wanted, Executed executed) {
        if (executed.behind() != null) {
            return CompletableFuture.completedFuture(
                    new DurableReply(executed.reply(), shortfall(wanted, executed, executed.behind())));
        }
        return send(List.of(call, position(call.keys())), attempt, null)
                .thenApply(again -> new DurableReply(
                        again.replies().get(0),
                        shortfall(wanted, executed, again.replies().get(1))))
                .exceptionallyCompose(e -> isRefusal(e)
                        ? CompletableFuture.completedFuture(
                                new DurableReply(executed.reply(), shortfall(wanted, executed, null)))
                        : CompletableFuture.failedFuture(e));
    }

    /** Whether a server has refused it: more will not be known of what it has executed before. */
    private static boolean isRefusal(Throwable failure) {
        Throwable error = RedisErrors.unwrap(failure);
        return RedisErrors.isRefusal(error) && !RedisErrors.isClosed(error);
    }

    private static Shortfall shortfall(Durability wanted, Executed executed, Object behind) {
        ReplicationPosition.History before = history(executed.before());
        ReplicationPosition.History history = history(behind);
        ReplicationPosition.Span place = history == null
                ? null
                : new ReplicationPosition.Span(before == null ? null : before.end(), history.end());
        return shortfall(
                wanted, executed.answers().waited(), place, executed.answers().refusal());
    }

    /** What a wait has left to be wished for; null if nothing. */
    static Shortfall missing(Durability wanted, Waited waited, Throwable refusal) {
        return waited != null && waited.satisfies(wanted) ? null : shortfall(wanted, waited, null, refusal);
    }

    private static Shortfall shortfall(
            Durability wanted, Waited waited, ReplicationPosition.Span place, Throwable refusal) {
        return new Shortfall(
                wanted, waited == null ? 0 : waited.replicas(), waited != null && waited.onDisk(), place, refusal);
    }

    /** Where a master is, as {@link LuaScript#REPLICATION} answers; null if it does not tell. */
    static ReplicationPosition.History history(Object reply) {
        return reply instanceof byte[] bytes
                ? ReplicationPosition.history(new String(bytes, StandardCharsets.UTF_8))
                : null;
    }

    private static ScriptCall position(List<Object> keys) {
        return new ScriptCall(LuaScript.REPLICATION, calls(keys), new Object[0]);
    }

    /** A call of a queue has {@code calls} among its keys: that, and no other one, ends with this word. */
    private static List<Object> calls(List<Object> keys) {
        return List.of(keys.stream()
                .filter(key -> key.toString().endsWith(":calls"))
                .findFirst()
                .orElseThrow());
    }

    /**
     * Executes a call on its own where Redis does not know the script, and repeats it then. It was executed also if Redis refuses
     * what follows it.
     */
    private CompletableFuture<Executed> load(ScriptCall call, int attempt, Durability wanted) {
        ScriptCall position = position(call.keys());
        return plain.call(call.script(), call.keys(), call.arguments(), attempt)
                .thenCompose(reply -> plain.call(position.script(), position.keys(), position.arguments(), attempt)
                        .thenCompose(loaded -> repeat(call, attempt, wanted))
                        .exceptionallyCompose(e -> isRefusal(e)
                                ? CompletableFuture.completedFuture(new Executed(
                                        reply, null, null, new Answers(List.of(reply), null, RedisErrors.unwrap(e))))
                                : CompletableFuture.failedFuture(e)));
    }

    /**
     * Asks, before anything is stored, whether this Redis waits for what is wanted: it may not have the command, the user may
     * not be allowed to use it, or there is no append-only file.
     */
    private CompletableFuture<Void> available(List<Object> keys, int attempt, Durability wanted) {
        if (known) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            return ask(keys, attempt, wanted);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<Void> ask(List<Object> keys, int attempt, Durability wanted) {
        Duration limit = longestWait();
        if (wanted.timeout().compareTo(limit) >= 0) {
            return CompletableFuture.failedFuture(new DurabilityUnavailableException(wanted, limit));
        }
        ScriptCall position = position(keys);
        Durability nothing = new Durability(0, wanted.disk(), Duration.ofMillis(1));
        return plain.call(position.script(), position.keys(), position.arguments(), attempt)
                .thenCompose(loaded -> send(List.of(position), attempt, nothing))
                .thenCompose(answers -> {
                    if (answers.refusal() != null) {
                        return CompletableFuture.failedFuture(
                                new DurabilityUnavailableException(wanted, RedisErrors.text(answers.refusal()), answers.refusal()));
                    }
                    known = true;
                    return CompletableFuture.completedFuture(null);
                });
    }

    /** For how long a connection may wait: it answers no ping meanwhile, and Redisson closes one that does not. */
    private Duration longestWait() {
        BaseMasterSlaveServersConfig<?> config = executor().getServiceManager().getConfig();
        int interval = config.getPingConnectionInterval();
        return interval == 0
                ? Duration.ofMillis(Long.MAX_VALUE)
                : Duration.ofMillis(Math.max(config.getTimeout(), interval / 2));
    }

    /**
     * Sends calls in one batch.
     *
     * @param wanted what to wait for behind them; null for nothing
     * @return fails if it is not known whether all of them were executed, one after the other, or they were not
     */
    private CompletableFuture<Answers> send(List<ScriptCall> calls, int attempt, Durability wanted) {
        Batch batch;
        List<CompletableFuture<Object>> replies = new ArrayList<>(calls.size());
        AtomicBoolean disordered = new AtomicBoolean();
        CompletableFuture<?> sent;
        try {
            Duration timeout = RedissonCaller.timeout(attempt);
            batch = new Batch(executor(), wanted == null ? timeout : timeout.plus(wanted.timeout()));
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
            if (wanted != null) {
                batch.await(wanted);
            }
            sent = batch.executeAsync().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        return sent.handle((all, failure) -> {
                    boolean answered =
                            replies.stream().allMatch(reply -> reply.isDone() && !reply.isCompletedExceptionally());
                    if (answered && disordered.get()) {
                        // A node in between has sent some of them on to another one: what they tell of the history, and
                        // whom WAIT has waited for, is not about the others.
                        return CompletableFuture.<Answers>failedFuture(
                                new RedisTimeoutException("the commands were not executed one after the other"));
                    }
                    if (failure == null) {
                        return CompletableFuture.completedFuture(new Answers(results(replies), batch.waited, null));
                    }
                    Throwable error = RedisErrors.unwrap(failure);
                    // Only WAIT can have failed then. Without an answer to it the call is repeated, with a refusal it
                    // is not.
                    return answered && RedisErrors.isRefusal(error)
                            ? CompletableFuture.completedFuture(new Answers(results(replies), null, error))
                            : CompletableFuture.<Answers>failedFuture(error);
                })
                .thenCompose(answers -> answers);
    }

    private static List<Object> results(List<CompletableFuture<Object>> replies) {
        return replies.stream().map(CompletableFuture::join).toList();
    }

    private CommandAsyncExecutor executor() {
        RKeys keys = redisson.getKeys();
        if (keys instanceof RedissonKeys own) {
            return own.getCommandExecutor();
        }
        throw new DurabilityUnavailableException(redisson.getClass());
    }

    /** Commands for one node that go together. Made and sent by one thread. */
    private static final class Batch extends CommandBatchService {

        /** Where the scripts go; what waits for them has to go there, too. */
        private NodeSource node;
        /** The last answer: there is a second one where a node has sent the batch on to another one. */
        private volatile Waited waited;

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
                            call.arguments())
                    .toCompletableFuture();
        }

        void await(Durability wanted) {
            long millis = wanted.timeout().toMillis();
            if (wanted.disk()) {
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

        private <T> void send(RedisCommand<T> command, Object... parameters) {
            super.async(false, node, ByteArrayCodec.INSTANCE, command, parameters, false, false);
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
