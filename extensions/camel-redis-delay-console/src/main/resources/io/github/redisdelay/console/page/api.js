// Asks the console's server, and tells apart what can go wrong.

import { note } from './time.js';

/** A refusal of the server, or that it did not answer (kind "gone"). */
export class Problem extends Error {
    constructor(kind, text, status = 0, answer = null) {
        super(text);
        Object.assign(this, { kind, status, answer });
    }
}

/** Names and values as the part of an address behind the question mark; those that are null or undefined are left out. */
export function query(values) {
    const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
    return new URLSearchParams(given).toString().replaceAll('+', '%20');
}

export function get(what, values = {}) {
    const text = query(values);
    return call('api/' + what + (text ? '?' + text : ''), {});
}

export function post(what, values) {
    return call('api/' + what, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Redis-Delay-Console': '1' },
        body: JSON.stringify(values)
    });
}

/** Where a message's body can be downloaded. */
export const bodyAddress = (queue, id, group) => 'api/body?' + query({ queue, id, group });

async function call(address, options) {
    const timer = new AbortController();
    const end = setTimeout(() => timer.abort(), 15000);
    let response, answer;
    try {
        response = await fetch(new URL(address, document.baseURI), { ...options, cache: 'no-store', signal: timer.signal });
        if (!(response.headers.get('Content-Type') || '').includes('json')) {
            throw new Problem('foreign', `The answer did not come from the console (status ${response.status}). Sign in again, or reload the page.`,
                response.status);
        }
        answer = await response.json();
    } catch (error) {
        throw error instanceof Problem ? error : new Problem('gone', "The console's server does not answer.");
    } finally {
        clearTimeout(end);
    }
    if (!response.ok) throw new Problem(answer.error || 'unknown', answer.text || `Status ${response.status}.`, response.status, answer);
    if (answer.time) note(answer.time);
    return answer;
}
