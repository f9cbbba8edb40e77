// The words and signs of the page: counts, states, reasons, links.

import { h, name } from './dom.js';
import { query } from './api.js';
import { at, distance, timed } from './time.js';

const STATES = {
    late: ['▲', 'late', 'Messages are overdue'],
    unreachable: ['✕', 'unreachable', 'Redis does not answer for this queue'],
    paused: ['‖', 'paused', 'No message is delivered until it is resumed'],
    onTime: ['✓', 'on time', 'Nothing is overdue'],
    dead: ['✕', 'dead letters', 'No message is delayed or leased, but there are dead letters'],
    empty: ['–', 'empty', 'No message is delayed or leased']
};
const MESSAGE_STATES = { delayed: ['○', 'delayed'], parked: ['‖', 'parked'], leased: ['◐', 'leased'], dead: ['✕', 'dead'] };
const LEVELS = { error: ['▲', 'Error'], warning: ['!', 'Warning'], info: ['i', 'Note'] };
const REASONS = {
    __proto__: null,
    failed: 'failed', leaseExpired: 'lease expired', released: 'released', expired: 'expired (time to live)', none: 'first delivery'
};

/** How a queue is: one without messages that has dead letters is not simply empty. */
export const stateOf = q => q.state === 'empty' && q.dead ? 'dead' : q.state;
export const queueStates = Object.keys(STATES);
export const stateWord = state => (STATES[state] || ['', state])[1];
export const reasonWord = reason => REASONS[reason] || reason || 'no cause is recorded';

/** The end of a group's pause; one until it is resumed has a time in the year 2255. */
export const pauseEnd = iso => iso.startsWith('2255') ? 'it is resumed' : [at(iso, { digits: 0 }), ', ', distance(iso)];

/** A number in groups of three with narrow spaces, as every reader understands it. */
export const count = n => n === null || n === undefined ? '–' : String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
export const many = (n, one, more) => count(n) + ' ' + (n === 1 ? one : more);

export function badge(state) {
    const [sign, word, title] = STATES[state] || ['?', state, ''];
    return h('span', { class: 'badge ' + state, title }, h('span', { 'aria-hidden': 'true' }, sign), ' ' + word);
}

export function messageBadge(state) {
    const [sign, word] = MESSAGE_STATES[state] || ['?', state];
    return h('span', { class: 'badge ' + state }, h('span', { 'aria-hidden': 'true' }, sign), ' ' + word);
}

export function remark(level, ...content) {
    const [sign, word] = LEVELS[level] || LEVELS.info;
    return h('li', { class: 'remark ' + level }, h('span', { class: 'sign', role: 'img', 'aria-label': word }, sign), h('span', {}, ...content));
}

export const address = (screen, values) => '#/' + screen + (values ? '?' + query(values) : '');
export const queueLink = (queue, props, text) => h('a', { href: address('queue', { name: queue }), ...props }, text || name(queue));
/** A dead letter is shown as the message that it was; its own id, which ends with the time, is the title. */
export const messageLink = (queue, id, as = id, group = null) => h('a', { href: address('message', { queue, id, group }), title: id }, name(as));
export const groupLink = (queue, group) => h('a', { href: address('queue', { name: queue, group }) }, name(group));

const DEAD_LETTERS = /^\d[\d\s]* dead letters?/;
export const isOfDead = text => DEAD_LETTERS.test(text);

/** A sentence of the diagnosis of a queue; what it says of dead letters leads to them. */
export function finding(queue, text) {
    const [letters] = DEAD_LETTERS.exec(text) || [''];
    return [letters ? h('a', { href: address('dead', { queue }) }, timed(letters)) : null, timed(text.slice(letters.length))];
}

/** Where a screen below that of a queue is. */
export const path = (queue, here) => h('nav', { class: 'path', 'aria-label': 'Where you are' }, h('a', { href: '#/' }, 'Queues'), ' › ',
    queueLink(queue), ' › ', h('span', { 'aria-current': 'page' }, here));

/** The last part of a class's name, the whole one as the title. */
export const shortClass = text => text ? h('span', { title: text, class: 'exception' }, name(text.slice(text.lastIndexOf('.') + 1) || text)) : null;

export const button = (text, action, props) => h('button', { type: 'button', on: { click: action }, ...props }, text);

const EXPLAINED = {
    check: 'Finds messages that are neither delayed nor leased, and makes them delayed again',
    redrive: 'Puts a dead letter back into its queue, to be delivered anew'
};

/** Says what the button of an action does, where its word does not. */
export const explained = action => EXPLAINED[action] ? { title: EXPLAINED[action], 'aria-description': EXPLAINED[action] } : {};

/** One of several choices; the chosen one is pressed. */
export function choice(label, options, chosen, choose, props) {
    return h('div', { class: 'choice', role: 'group', 'aria-label': label, ...props }, options.map(([value, text]) =>
        button(text, () => choose(value), { key: value, 'aria-pressed': String(value === chosen), 'data-choice': value })));
}
