// Screen A: all queues, the worst first.

import { get, Problem } from './api.js';
import { spark } from './chart.js';
import { h, memo, name } from './dom.js';
import { distance, millis, now, span } from './time.js';
import { address, badge, button, count, finding, many, queueLink, queueStates, remark, stateOf, stateWord } from './words.js';

const RANK = { error: 0, warning: 1 };
const REMARKS = 5;

export class Queues {
    constructor(params, app) {
        Object.assign(this, { app, filter: '', only: null, allRemarks: false });
    }

    /** Where no queue can be reached, the figures before are worth more, marked as old. */
    async load() {
        const data = await get('queues'), [first] = data.queues;
        if (this.data && first && data.queues.every(q => q.state === 'unreachable')) {
            throw new Problem('unreachable', first.diagnosis[0]?.text || '');
        }
        this.data = data;
    }

    title() {
        const overdue = this.data?.queues.reduce((sum, q) => sum + q.overdue, 0);
        return overdue ? `${count(overdue)} overdue` : 'All queues';
    }

    view() {
        const all = this.data.queues, wanted = this.filter.toLowerCase();
        const listed = all.filter(q => (!this.only || stateOf(q) === this.only) && q.name.toLowerCase().includes(wanted));
        const gone = all.filter(q => q.state === 'unreachable').length;
        const sum = what => gone && gone === all.length ? null : all.reduce((total, q) => total + q[what], 0);
        const remarks = all.flatMap(q => q.diagnosis.filter(one => one.level in RANK).map(one => ({ ...one, q }))).sort((a,
            b) => RANK[a.level] - RANK[b.level]);
        return [
            h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, 'Queues'),
                h('p', { class: 'sums' }, h('span', {}, h('b', {}, count(sum('delayed'))), ' delayed'),
                    h('span', { class: sum('overdue') ? 'late' : '' }, h('b', {}, count(sum('overdue'))), ' overdue'),
                    h('span', {}, h('b', {}, count(sum('leased'))), ' leased'), h('span', {}, h('b', {}, count(sum('dead'))), ' dead'),
                    gone ? h('span', { class: 'late' }, h('b', {}, count(gone)), ' unreachable') : null)),
            remarks.length ? h('section', { class: 'card remarks', 'aria-label': 'What needs you' },
                h('ul', { id: 'remarks' }, (this.allRemarks ? remarks : remarks.slice(0, REMARKS)).map(one => remark(one.level, queueLink(one.q.name),
                    ' · ', finding(one.q.name, one.text)))),
                remarks.length > REMARKS ? button(this.allRemarks ? 'Show fewer' : `Show ${remarks.length - REMARKS} more`,
                    () => { this.allRemarks = !this.allRemarks; this.app.show(); }, { class: 'plain' }) : null) : null,
            all.length > 7 ? h('div', { class: 'bar-line' },
                h('label', { class: 'filterbox' }, h('span', { class: 'unseen' }, 'Filter by name'),
                    h('input', { id: 'filter', type: 'search', placeholder: 'filter by name', autocomplete: 'off', spellcheck: 'false',
                    on: { input: event => { this.filter = event.target.value; this.app.show(); } } })),
                h('div', { class: 'choice', role: 'group', 'aria-label': 'Only one state' },
                    queueStates.map(state => [state, all.filter(q => stateOf(q) === state).length]).filter(([state, n]) => n
                    || state === this.only).map(([state, n]) =>
                    button([badge(state), ' ', count(n)], () => { this.only = this.only === state ? null : state; this.app.show(); },
                        { key: state, 'aria-pressed': String(this.only === state), 'aria-label': `Only those that are ${stateWord(state)}: ${n}`,
                        'data-only': state }))),
                h('span', { class: 'quiet', role: 'status' }, listed.length < all.length
                    ? `${listed.length} of ${many(all.length, 'queue', 'queues')}` : many(all.length, 'queue', 'queues'))) : null,
            h('table', { class: 'list queues', id: 'queues', 'aria-label': 'Queues, the worst first' },
                h('thead', {}, h('tr', {}, ['Queue', 'State'].map(one => h('th', { scope: 'col' }, one)),
                    ['Delayed', 'Overdue', 'Leased', 'Dead', 'Consumers'].map(one => h('th', { scope: 'col', class: 'n' }, one)),
                    h('th', { scope: 'col' }, 'Next due'), h('th', { scope: 'col' }, 'Next hour'))),
                h('tbody', {}, listed.map(q => this.row(q)))),
            all.length === 0 ? h('p', { class: 'nothing' }, 'No queue yet. A queue shows here as soon as a route writes to it or reads from it.')
                : listed.length === 0 ? h('p', { class: 'nothing' }, 'No queue matches the filter.') : null,
            this.data.more ? h('p', { class: 'quiet' }, `Only the first ${count(all.length)} queues are shown.`) : null
        ];
    }

    row(q) {
        const due = next(q);
        return memo('tr', q.name, JSON.stringify([q, due]), () => {
            const gone = q.state === 'unreachable', n = value => gone ? '–' : count(value);
            return h('tr', { 'data-queue': q.name, 'data-state': q.state },
                h('th', { scope: 'row' }, queueLink(q.name, { title: q.name }), q.partitions > 1
                    ? h('small', { class: 'quiet' }, ` ${q.partitions} partitions`) : null),
                h('td', { class: 'state', 'data-label': 'State' }, badge(stateOf(q))),
                h('td', { class: 'n', 'data-label': 'Delayed' }, n(q.delayed)),
                h('td', { class: 'n' + (q.overdue ? ' late' : ' zero'), 'data-label': 'Overdue' }, n(q.overdue),
                    q.overdue ? h('small', {}, ` oldest ${span(q.oldestOverdueMicros / 1000)}`) : null),
                h('td', { class: 'n' + (q.leased ? '' : ' zero'), 'data-label': 'Leased' }, n(q.leased)),
                h('td', { class: 'n' + (q.dead ? ' dead' : ' zero'), 'data-label': 'Dead' }, q.dead
                    ? h('a', { href: address('dead', { queue: q.name }) }, n(q.dead)) : n(q.dead),
                    q.deadLastHour ? h('small', {}, ` +${count(q.deadLastHour)} in 1 h`) : null),
                h('td', { class: 'n', 'data-label': 'Consumers' }, n(q.consumers),
                    q.consumers === 0 && q.delayed > 0 ? h('strong', { class: 'late', title: 'No consumer is there' }, ' !',
                    h('span', { class: 'unseen' }, ' no consumer')) : null),
                h('td', { class: 'time', 'data-label': 'Next due' }, due),
                h('td', { class: 'chart', 'data-label': 'Next hour' }, q.nextHour ? spark(q.nextHour, 'Due in the next hour, each 5 minutes')
                    : null));
        });
    }
}

function next(q) {
    if (q.overdue) return 'overdue';
    if (!q.nextDue) return '–';
    return millis(q.nextDue) < now() ? 'now' : distance(q.nextDue);
}

/**
 * The screen of a search by id: in one queue (queue), or in all, from the one on that the reader was looking at (first). An id that is
 * not found is looked for without the spaces around it, as copying leaves them.
 */
export class Find {
    constructor(params, app) {
        const id = params.get('id') || '';
        Object.assign(this, { app, id, wanted: id, queue: params.get('queue'), first: params.get('first'), all: null });
        this.again();
    }

    again() {
        Object.assign(this, { found: [], failed: [], looked: 0, over: false });
    }

    async load() {
        if (this.all) return;
        const { queues, more } = this.queue ? { queues: [] } : await get('queues');
        const others = queues.map(q => q.name).filter(queue => queue !== this.first);
        this.all = this.queue ? [this.queue] : this.first ? [this.first, ...others] : others;
        this.more = more;
        this.ended = this.search();
    }

    async search() {
        const rest = [...this.all], look = async () => {
            while (rest.length && this.app.screen === this) await this.look(rest.shift());
        };
        if (this.first) await this.look(rest.shift());
        if (!this.found.length) await Promise.all([look(), look(), look(), look()]);
        if (this.app.screen !== this) return;
        const trimmed = this.id.trim();
        if (!this.found.length && trimmed && this.wanted !== trimmed) {
            this.wanted = trimmed;
            this.again();
            await this.search();
            return;
        }
        this.over = true;
        if (this.found.length === 1 && !this.failed.length) {
            if (this.wanted !== this.id) this.app.tell({ outcome: 'trimmed', text: this.trimmed() });
            this.app.replace('message', { queue: this.found[0].queue, id: this.wanted });
        }
        this.app.show();
    }

    async look(queue) {
        try {
            const { messages, deadLetters } = await get('message', { queue, id: this.wanted });
            if (messages.length || deadLetters.length) this.found.push({ queue, states: messages.map(m => m.state) });
        } catch (problem) {
            if (problem.kind !== 'notFound') this.failed.push(queue);
        }
        this.looked++;
        this.app.show();
    }

    trimmed() {
        return `No message has the id "${this.id}"; this is "${this.wanted}", without the spaces around it.`;
    }

    title() {
        return 'Find ' + this.id;
    }

    view() {
        return [
            h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, 'Find ', name(this.id))),
            h('p', { role: 'status', id: 'find-status' }, !this.over
                ? `Searched ${count(this.looked)} of ${many(this.all.length, 'queue', 'queues')} …`
                : this.found.length ? [`Found in ${many(this.found.length, 'queue', 'queues')}. `, this.wanted === this.id ? null : this.trimmed()]
                    : this.missing()),
            this.over && !this.found.length && this.queue ? h('p', {}, h('a', { class: 'button', id: 'find-everywhere',
                href: this.app.address('find', { id: this.id, first: this.queue }) }, 'Search all queues')) : null,
            this.failed.length ? h('p', { class: 'remark warning' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, '!'),
                h('span', {}, 'Could not look into: ', this.failed.map((queue, i) => [i ? ', ' : '', name(queue)]))) : null,
            h('ul', { id: 'found' }, this.found.map(one => h('li', { key: one.queue },
                h('a', { href: this.app.address('message', { queue: one.queue, id: this.wanted }) }, name(one.queue)), ' – ',
                one.states.join(', ') || 'dead')))
        ];
    }

    missing() {
        return ['Not found', this.queue ? [' in ', name(this.queue), '. It is in another queue, or it']
            : [` in ${this.more ? 'the first ' : ''}${many(this.looked, 'queue', 'queues')}. It`],
            ' was delivered or cancelled, or it never was there.',
            this.wanted === this.id ? null : ' It was looked for without the spaces around it, too.',
            ' Ids are compared exactly, upper and lower case included.'];
    }
}
