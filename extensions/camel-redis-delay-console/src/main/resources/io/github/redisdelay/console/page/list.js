// Lists the messages of a queue in one state: pages, from a time, first or last ones first.

import { get } from './api.js';
import { h, memo, name } from './dom.js';
import { groupButtons } from './group.js';
import { at, distance, field, isoOf, millis, now, read, zoneName } from './time.js';
import { button, choice, count, groupLink, messageBadge, messageLink, pauseEnd, queueLink, reasonWord, shortClass } from './words.js';

const SIZE = 25;
const COLUMNS = {
    delayed: ['Due', 'At', 'Id', 'Attempts', 'Why again', 'Last failure'],
    parked: ['Due', 'At', 'Id', 'Attempts', 'Group', 'Last failure'],
    leased: ['Lease ends', 'At', 'Id', 'Attempts', 'Why again', 'Leased by'],
    group: ['Due', 'At', 'Id', 'Attempts', 'State', 'Last failure'],
    dead: ['Dead-lettered', 'At', 'Id', 'Attempts', 'Why', 'Last failure']
};

export class MessageList {
    /**
     * @param reload reads again and shows it
     * @param group the group whose messages are listed; null for those in a state
     */
    constructor(queue, state, reload, group = null) {
        Object.assign(this, { queue, reload, group, page: null, asked: 0 });
        this.begin(group ? 'group' : state);
    }

    /** From the start of a state, a time or a span. */
    begin(state, { from = null, to = null, newest = state === 'dead' } = {}) {
        Object.assign(this, { state, from, to, newest: newest && !from, cursor: null, before: [], page: null,
            text: from ? field(millis(from)) : '' });
    }

    async load() {
        if (this.cursor && !this.group && this.page?.cursor === this.cursor) return;
        const asked = ++this.asked, { queue, state, cursor, group } = this;
        const how = cursor ? { cursor } : this.from ? { at: this.from } : this.newest ? { newest: true } : {};
        const answer = await get('messages', group ? { queue, group, cursor, limit: SIZE } : { queue, state, ...how, limit: SIZE });
        if (asked !== this.asked) return;
        const messages = this.to ? answer.messages.filter(m => m.due < this.to) : answer.messages;
        this.page = { messages, cursor, group: answer.group, next: messages.length < answer.messages.length ? null : answer.next };
    }

    turn(cursor, before) {
        Object.assign(this, { cursor, before });
        this.reload();
    }

    go() {
        const time = read(this.text);
        this.begin(this.state, { from: time === null ? null : isoOf(time) });
        this.reload();
    }

    order(newest) {
        this.begin(this.state, { newest });
        this.reload();
    }

    /** @param q the queue's figures, and the rights in it */
    view(q, actions, states) {
        const figures = { delayed: q.delayed, parked: q.parked, leased: q.leased, dead: q.dead }, { page } = this;
        if (this.group) {
            const paused = page?.group.pausedUntil;
            return h('section', { class: 'card', id: 'messages', 'aria-labelledby': 'messages-title' },
                h('div', { class: 'bar-line' }, h('h2', { id: 'messages-title', tabindex: '-1' }, 'Group ', name(this.group)),
                    queueLink(this.queue, { 'data-filter': 'clear' }, 'Show all'),
                    h('div', { class: 'buttons' }, actions && page ? groupButtons(actions, this.queue, q.actions, this.group, paused) : null)),
                paused ? h('p', { class: 'remark warning', id: 'paused' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, '‖'),
                    h('span', {}, 'The group is paused until ', pauseEnd(paused), '.')) : null,
                !page ? h('p', { class: 'quiet' }, 'Reading …') : page.messages.length
                    ? this.table(page, q, actions) : h('p', { class: 'quiet', 'data-empty': '' }, 'The group has no message.'),
                this.pages(page));
        }
        const orders = this.state === 'dead' ? [[true, 'newest first'], [false, 'oldest first']]
            : [[false, 'first due first'], [true, 'last due first']];
        return h('section', { class: 'card', id: 'messages', 'aria-labelledby': 'messages-title' },
            h('div', { class: 'bar-line' },
                h('h2', { id: 'messages-title', tabindex: '-1' }, states.length > 1 ? 'Messages' : 'Dead letters'),
                states.length > 1 ? choice('State', states.map(state => [state, [state, ' ', h('span', { class: 'figure' }, count(figures[state]))]]),
                    this.state, state => { this.begin(state); this.reload(); }, { id: 'states' }) : null,
                choice('Order', orders, this.newest, newest => this.order(newest)),
                h('form', { class: 'from', on: { submit: event => { event.preventDefault(); this.go(); } } },
                    h('label', {}, 'from ', h('input', { type: 'datetime-local', step: '1', name: 'from', placeholder: '2026-11-22 14:00',
                        title: 'in ' + zoneName(), value: this.text,
                        on: { input: event => { this.text = event.target.value; } } })),
                    h('button', { type: 'submit' }, 'Go'))),
            this.from ? h('p', { class: 'filter' }, this.to ? ['Due from ', at(this.from, { digits: 0 }), ' to ', at(this.to, { digits: 0 })]
                : ['From ', at(this.from, { digits: 0 })], ' ',
                button('Show all', () => { this.begin(this.state); this.reload(); }, { 'data-filter': 'clear' })) : null,
            !page ? h('p', { class: 'quiet' }, 'Reading …') : page.messages.length === 0
                ? h('p', { class: 'quiet', 'data-empty': '' }, this.before.length || this.from ? 'Nothing more here.' : this.state === 'dead'
                ? 'No dead letters. No message was given up.' : `No message is ${this.state}.`)
                : this.table(page, q, actions),
            this.pages(page));
    }

    pages(page) {
        return page && (page.next || this.before.length) ? h('nav', { class: 'pages', 'aria-label': 'Pages' },
                button('‹ Back', () => this.turn(this.before.at(-1), this.before.slice(0, -1)),
                    { disabled: !this.before.length, 'data-page': 'back' }),
                h('span', { class: 'quiet' }, 'Page ' + (this.before.length + 1) + (this.before.length && !this.group ? ' (stands still)' : '')),
                button('More ›', () => this.turn(page.next, [...this.before, this.cursor]), { disabled: !page.next, 'data-page': 'next' })) : null;
    }

    table(page, q, actions) {
        const may = actions && q.actions.some(right => ['cancel', 'promote', 'reschedule', 'redrive', 'purge'].includes(right));
        const limited = this.state === 'delayed' && q.parked > 0 && !q.overdue;
        const columns = COLUMNS[this.state], recurs = page.messages.some(m => m.schedule);
        return h('table', { class: 'list', 'data-table': this.state, 'aria-label': 'Messages: ' + this.state }, h('thead', {},
            h('tr', {}, columns.map(one => h('th', { scope: 'col', class: one === 'Attempts' ? 'n' : null }, one)),
            recurs ? h('th', { scope: 'col' }, 'Rule') : null,
            may ? h('th', { scope: 'col' }, h('span', { class: 'unseen' }, 'Actions')) : null)),
            h('tbody', {}, page.messages.map(m => {
                const time = this.state === 'dead' ? m.deadAt || m.due : this.state === 'leased' ? m.leaseEnd || m.due : m.due;
                const late = this.state !== 'dead' && !m.parked && !limited && millis(time) < now();
                const buttons = may ? actions.buttons(this.queue, q.actions, m, false) : [];
                return memo('tr', m.id, JSON.stringify([m, at(time), distance(time), late, may, buttons.length, recurs]),
                    () => h('tr', { 'data-id': m.id, 'data-state': m.state },
                    h('td', { class: 'time' + (late ? ' late' : ''), 'data-label': columns[0] },
                        late && this.state !== 'leased' ? span0(time) : distance(time)),
                        h('td', { class: 'time', 'data-label': columns[1] }, at(time)),
                    h('th', { scope: 'row' }, messageLink(this.queue, m.id, m.messageId, m.group)),
                    h('td', { class: 'n', 'data-label': columns[3] }, count(m.attempts)),
                        this.state === 'parked' ? h('td', { 'data-label': columns[4] }, groupLink(this.queue, m.group))
                        : this.state === 'group' ? h('td', { 'data-label': columns[4] }, messageBadge(m.parked ? 'parked' : m.state))
                        : h('td', { class: m.reason === 'none' ? 'nil' : null, 'data-label': columns[4] },
                        m.reason === 'none' ? '–' : reasonWord(m.reason)),
                    h('td', { class: 'why' + (this.state !== 'leased' && !m.failure ? ' nil' : ''), 'data-label': columns[5] },
                        this.state === 'leased' ? name(m.leaseOwner || 'unknown') : failure(m.failure)),
                    recurs ? h('td', { class: m.schedule ? null : 'nil', 'data-label': 'Rule' }, m.schedule ? rule(m.schedule) : '–') : null,
                    may ? h('td', { class: 'do' }, buttons) : null));
            })));
    }
}

const span0 = time => [h('span', { 'aria-hidden': 'true' }, '▲ '), distance(time).replace(' ago', ' late')];

const rule = one => [name(one.rule), h('small', { class: 'quiet' }, one.next ? [' then ', at(one.next, { digits: 0 })] : null,
    one.declaredBy ? ' by a ' + one.declaredBy : null)];

function failure(failed) {
    if (!failed) return '–';
    return h('span', { title: [failed.exception, failed.message].filter(Boolean).join(': ') }, shortClass(failed.exception),
        failed.message ? [' ', h('span', { class: 'quiet' }, name(failed.message))] : null);
}
