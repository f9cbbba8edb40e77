// Times by Redis' clock: how far the browser's is off, and times in the zone that the reader chose.

import { h, name } from './dom.js';
import { keep, kept } from './choices.js';

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const samples = [];
let zone;
let mode = kept('times', ['mine', 'UTC', 'server'], 'mine');

/** Takes a time that Redis told just now. An answer may be a little old, so the newest look of the last ten counts. */
export function note(iso) {
    samples.push(millis(iso) - Date.now());
    if (samples.length > 10) samples.shift();
}

/** How many milliseconds Redis' clock is ahead of the browser's. */
export const ahead = () => samples.length ? Math.max(...samples) : 0;
export const now = () => Date.now() + ahead();
/** NaN if there is no time, or one that is none. */
export const millis = iso => iso ? Date.parse(iso.slice(0, 23).replace(/Z?$/, 'Z')) : NaN;
export const modes = () => zone ? ['mine', 'UTC', 'server'] : ['mine', 'UTC'];
export const chosenMode = () => modes().includes(mode) ? mode : 'mine';

export function choose(one) {
    mode = one;
    keep('times', one);
}

/** The zone of the console's server, if it has told it and the browser knows it. */
export function serverZone(told) {
    try {
        new Intl.DateTimeFormat('en', { timeZone: told });
        zone = told || undefined;
    } catch {
        zone = undefined;
    }
}

export const zoneName = () => ({ UTC: 'UTC', server: zone }[chosenMode()] || Intl.DateTimeFormat().resolvedOptions().timeZone || 'your time zone');

const formats = new Map();

/** The clock on the wall at a time, in the chosen zone. */
export function wall(ms, as = chosenMode()) {
    if (!formats.has(as + zone)) {
        formats.set(as + zone, new Intl.DateTimeFormat('en-CA', {
            timeZone: { UTC: 'UTC', server: zone }[as], hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
            hour: '2-digit', minute: '2-digit', second: '2-digit'
        }));
    }
    const part = Object.fromEntries(formats.get(as + zone).formatToParts(ms).map(one => [one.type, one.value]));
    return { date: `${part.year}-${part.month}-${part.day}`, time: `${part.hour}:${part.minute}:${part.second}` };
}

/** How many milliseconds the chosen zone's wall clock is ahead of UTC then. */
export function shift(ms) {
    const { date, time } = wall(ms);
    return Date.parse(date + 'T' + time + 'Z') - Math.floor(ms / SECOND) * SECOND;
}

/** The time that is meant by a wall clock's reading such as "2026-11-22 14:00" in the chosen zone; null if it is none. */
export function read(text) {
    const found = /^\s*(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?\s*$/.exec(text);
    const reading = found && Date.parse(`${found[1]}-${found[2]}-${found[3]}T${found[4]}:${found[5]}:${found[6] || '00'}Z`);
    if (!reading) return null;
    const near = reading - shift(reading);
    return reading - shift(near);
}

export const isoOf = ms => new Date(ms).toISOString().replace('Z', '000Z');

/** Date and time as a field of a form takes them. */
export function field(ms) {
    const { date, time } = wall(ms);
    return date + 'T' + time;
}

/** A length of time, rounded to what a person needs. */
export function span(ms) {
    const length = Math.abs(ms);
    if (length < 10 * SECOND) return (Math.floor(length / 100) / 10).toFixed(1) + ' s';
    if (length < 2 * MINUTE) return Math.floor(length / SECOND) + ' s';
    if (length < 2 * HOUR) return Math.floor(length / MINUTE) + ' min';
    if (length < 2 * DAY) return two(length, HOUR, 'h', MINUTE, 'min');
    return length < 100 * DAY ? two(length, DAY, 'd', HOUR, 'h') : Math.floor(length / DAY) + ' d';
}

function two(length, large, largeName, small, smallName) {
    const rest = Math.floor(length % large / small);
    return `${Math.floor(length / large)} ${largeName}` + (rest ? ` ${rest} ${smallName}` : '');
}

/** "in 8.2 s" or "12 min ago", by Redis' clock. */
export function distance(iso) {
    const left = millis(iso) - now();
    if (Number.isNaN(left)) return '–';
    return left >= 0 ? 'in ' + span(left) : span(left) + ' ago';
}

/** The time itself: without the date if it is today. Its title has all six digits, and UTC. */
export function at(iso, { date = 'auto', digits = 3, ...props } = {}) {
    if (Number.isNaN(millis(iso))) return name(iso);
    const there = wall(millis(iso)), fraction = /\.\d+/.exec(iso)?.[0] || '';
    const today = wall(now()).date === there.date;
    const text = (date === 'always' || !today ? there.date + ' ' : '') + there.time + (digits ? fraction.slice(0, digits + 1) : '');
    return h('time', { datetime: iso, title: `${there.date} ${there.time}${fraction} (${zoneName()})\n${iso} (UTC)`, ...props }, text);
}

/** A sentence of the server's, in which each time is shown in the chosen zone, and large numbers are grouped. */
export function timed(sentence) {
    const parts = String(sentence).split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
    return h('bdi', {}, parts.map((part, i) => i % 2 ? at(part, { digits: 0 })
        : part.replace(/(^|[ (])(\d{4,})(?= [a-z]|[:,)])/g, (all, before, digits) => before + digits.replace(/\B(?=(\d{3})+$)/g, '\u202f'))));
}
