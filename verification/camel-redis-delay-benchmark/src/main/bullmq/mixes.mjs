// SPDX-License-Identifier: Apache-2.0
/* The steps of `mixes`: what a file of the class Work says. A message has its number in its id. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "bullmq";

const UNDER_WAY = 2000;
const FAR = 3_600_000;
const LIMIT = 60_000;

const requestsOf = (line) => (line === "" ? [] : line.split(" ").map((request) => request.split(":")));

/** Asks for each request, with so many callers that wait for the answer. */
async function ask(requests, callers, asked) {
    let next = 0;
    const caller = async () => {
        while (next < requests.length) {
            const [kind, number] = requests[next++];
            await asked[kind](number);
        }
    };
    await Promise.all(Array.from({ length: callers || UNDER_WAY }, caller));
}

async function until(what, condition) {
    for (const limit = performance.now() + LIMIT; !(await condition()); await sleep(1)) {
        if (performance.now() > limit) {
            throw new Error(`not within ${LIMIT} ms: ${what}`);
        }
    }
}

/** @param body makes the body of a number, begin answers a function that tells what was taken since */
export const mix = ({ body, begin, tell, fail, connection }) =>
    async (queue, callers, file) => {
        const [head, failing, before, measured] = readFileSync(file, "utf8").split("\n");
        const [again, deliveries, left] = head.split(" ").map(Number);
        const fails = new Set(failing.split(" "));
        const add = (delay) => (number) =>
            queue.add("message", body(number), {
                jobId: `o${number}`,
                delay,
                attempts: 2,
                backoff: { type: "fixed", delay: again },
            });
        const asked = {
            SCHEDULE: add(FAR),
            SCHEDULE_DUE: add(1),
            CANCEL: (number) => queue.remove(`o${number}`),
            RESCHEDULE: async (number) => (await queue.getJob(`o${number}`)).changeDelay(1),
            GET: (number) => queue.getJob(`o${number}`),
        };
        await ask(requestsOf(before), 0, asked);
        let delivered = 0;
        const requests = requestsOf(measured);
        const cost = await begin();
        let worker;
        if (deliveries > 0) {
            worker = new Worker(
                queue.name,
                async (message) => {
                    delivered++;
                    if (message.attemptsMade === 0 && fails.has(message.id.slice(1))) {
                        throw new Error("the card was refused");
                    }
                },
                { connection, concurrency: 256 },
            );
            worker.on("error", fail);
        }
        await ask(requests, callers, asked);
        await until(`${deliveries} deliveries, and ${left} messages that wait`, async () => {
            if (delivered < deliveries) {
                return false;
            }
            const counts = await queue.getJobCounts("delayed", "wait", "active", "completed", "failed");
            return counts.delayed === left && counts.wait + counts.active + counts.completed + counts.failed === 0;
        });
        const taken = await cost();
        await worker?.close();
        if (delivered !== deliveries) {
            throw new Error(`${delivered} deliveries of ${deliveries}`);
        }
        tell(requests.length + deliveries, taken, "request");
    };
