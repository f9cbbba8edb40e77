// SPDX-License-Identifier: Apache-2.0
/*
 * BullMQ as a subject of `rates` and `mixes`: measures a step for each line `KIND callers round` of its standard input,
 * behind it in `mixes` a file, and says what SubjectProcess reads.
 *
 *     node --expose-gc subject.mjs redis://host:port quick
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import Redis from "ioredis";
import { mix } from "./mixes.mjs";

const [address, quickly] = process.argv.slice(2);
const { hostname: host, port } = new URL(address);
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const control = new Redis(connection);

const quick = quickly === "true";
const TIME = quick ? 300 : 1000;
const BACKLOG = quick ? 10_000 : 100_000;
const UNDER_WAY = 2000;
const BATCH = 100;
const FAR = 3_600_000;
const SPREAD = 200;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const REST = ALPHABET.repeat(8).slice(0, 190);

/** 200 characters of which the first ten are the message's number. */
const body = (number) => String(number).padStart(10, "0") + REST;

const job = (number, delay) => ({ name: "message", data: body(number), opts: { delay } });

const kinds = {
    CALLERS: (queue, callers) => scheduling(queue, callers, 1),
    ASYNCHRONOUS: (queue) => scheduling(queue, UNDER_WAY, 1),
    BATCHES: (queue) => scheduling(queue, 2, BATCH),
    FIFO: fifo,
    RANDOM: random,
    MIX: mix({ body, begin, tell, fail, connection }),
};

/** Callers that wait for each answer. */
async function scheduling(queue, callers, batch) {
    let scheduled = 0;
    const cost = await begin();
    const end = performance.now() + TIME;
    const caller = async () => {
        while (performance.now() < end) {
            if (batch === 1) {
                await queue.add("message", body(scheduled++), { delay: FAR });
            } else {
                await queue.addBulk(Array.from({ length: batch }, () => job(scheduled++, FAR)));
            }
        }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    const taken = await cost();
    await checkStored(queue, scheduled);
    tell(scheduled, taken);
}

/** Schedules the backlog. The function tells a message's delay in ms. */
async function schedule(queue, delay) {
    let next = 0;
    const caller = async () => {
        while (next < BACKLOG) {
            await queue.addBulk(Array.from({ length: BATCH }, () => job(next++, delay())));
        }
    };
    await Promise.all([caller(), caller()]);
}

/** All due in the order in which they were scheduled, and before the consumer starts. */
async function fifo(queue) {
    await schedule(queue, () => 1);
    await sleep(10);
    await checkStored(queue, BACKLOG);
    const cost = await begin();
    await deliver(queue, () => cost);
}

/** From the moment at which the first of many messages with random due times is due. */
async function random(queue) {
    for (let holdOff = BACKLOG / 10; ; holdOff *= 2) {
        const first = Date.now() + holdOff;
        await schedule(queue, () => first + Math.floor(Math.random() * SPREAD) - Date.now());
        if (Date.now() < first) {
            await deliver(queue, async () => {
                await sleep(Math.max(0, first - Date.now()));
                return begin();
            });
            console.log(["measured", "delivered", BACKLOG, "messages"].join("\t"));
            return;
        }
        await control.flushall(); // some were due before the last one was scheduled
    }
}

/** Starts a consumer, and tells what it took from the moment on at which the cost begins until the queue is empty. */
async function deliver(queue, begins) {
    const seen = new Set();
    let twice = 0;
    let all;
    const arrived = new Promise((resolve) => (all = resolve));
    const worker = new Worker(
        queue.name,
        async (message) => {
            const number = Number(message.data.slice(0, 10));
            if (message.data.length !== 200 || !(number < BACKLOG)) {
                throw new Error(`a message arrived that was never sent: ${message.data}`);
            }
            twice += seen.has(number) ? 1 : 0;
            seen.add(number);
            if (seen.size === BACKLOG) {
                all();
            }
        },
        { connection, concurrency: 256 },
    );
    worker.on("error", fail);
    worker.on("failed", (message, error) => fail(error));
    const cost = await begins();
    await Promise.race([arrived, sleep(120_000, undefined, { ref: false })]);
    const limit = performance.now() + 20_000;
    while (seen.size === BACKLOG && (await stored(queue)) > 0) {
        if (performance.now() > limit) {
            throw new Error(`all ${BACKLOG} messages were delivered, and Redis still holds ${await stored(queue)}`);
        }
        await sleep(1);
    }
    const taken = await cost();
    await worker.close();
    if (seen.size !== BACKLOG || twice > 0) {
        throw new Error(`${seen.size} of ${BACKLOG} messages were delivered within 2 minutes, ${twice} twice`);
    }
    tell(BACKLOG, taken);
}

const stored = (queue) => queue.getJobCountByTypes("delayed", "wait", "active", "prioritized", "completed", "failed");

async function checkStored(queue, scheduled) {
    const found = await stored(queue);
    if (found !== scheduled) {
        throw new Error(`${scheduled} messages were confirmed, and Redis holds ${found}`);
    }
}

async function redisSeconds() {
    const cpu = await control.info("cpu");
    return ["user", "sys"].reduce((sum, part) => sum + Number(cpu.match(`used_cpu_${part}:([0-9.]+)`)[1]), 0);
}

/** Answers a function that tells what was taken since. */
async function begin() {
    const redis = await redisSeconds();
    const clock = performance.now();
    return async () => {
        const seconds = (performance.now() - clock) / 1000;
        return { seconds, redisSeconds: (await redisSeconds()) - redis };
    };
}

function tell(messages, { seconds, redisSeconds }, of = "message") {
    console.log(["measured", "rate", messages / seconds, `${of}s/s`].join("\t"));
    console.log(["measured", "redis cpu", (redisSeconds * 1e6) / messages, `us/${of}`].join("\t"));
}

function fail(error) {
    console.error(error);
    process.exit(1);
}

async function measure(line) {
    const [kind, callers, round, file] = line.split(" ");
    await control.flushall();
    globalThis.gc();
    await sleep(200);
    const queue = new Queue(`bench-${kind}-${callers}-${round}`, {
        connection,
        defaultJobOptions: { removeOnComplete: true },
    });
    queue.on("error", fail);
    await queue.waitUntilReady();
    await kinds[kind](queue, Number(callers), file);
    await queue.close();
    console.log("done");
}

try {
    for await (const line of createInterface({ input: process.stdin })) {
        await measure(line);
    }
} catch (error) {
    fail(error);
}
process.exit(0);
