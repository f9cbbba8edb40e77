// Screen D: the dead letters of a queue, by cause first, then one by one.

import { get } from './api.js';
import { spark } from './chart.js';
import { h, memo, name } from './dom.js';
import { MessageList } from './list.js';
import { at, isoOf, now, read, wall } from './time.js';
import { button, choice, count, explained, many, messageLink, path, reasonWord } from './words.js';

const SINCE = [['all', 'all'], ['day', 'last day'], ['today', 'since midnight'], ['hour', 'last hour']];

export class Dead {
    constructor(params, app) {
        this.app = app;
        this.queue = params.get('queue') || '';
        this.range = 'all';
        this.since = null;
        this.list = new MessageList(this.queue, 'dead', () => app.reload());
    }

    async load() {
        const { queue, since } = this;
        const [q, failures] = await Promise.all([get('queue', { queue }), get('failures', { queue, since }), this.list.load()]);
        if (since === this.since) Object.assign(this, { q, failures });
    }

    title() {
        return `${count(this.q?.dead ?? null)} dead · ${this.queue}`;
    }

    choose(range) {
        this.range = range;
        this.since = range === 'all' ? null : isoOf(range === 'today' ? read(wall(now()).date + 'T00:00')
            : Math.floor(now()) - { day: 86400000, hour: 3600000 }[range]);
        this.app.reload();
    }

    view() {
        const { q, failures } = this, actions = this.app.actions, may = right => q.actions.includes(right),
            acts = may('redriveAll') || may('purgeAll');
        return [
            path(this.queue, 'Dead letters'),
            h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, 'Dead letters'),
                h('span', { class: 'badge dead' }, h('span', { 'aria-hidden': 'true' }, '✕'), ` ${count(q.dead)} dead`),
                h('div', { class: 'buttons' }, q.dead && may('purgeAll') ? button('Purge all …',
                    () => actions.purgeAll(this.queue, q.dead, q.time), { class: 'danger', 'data-action': 'purgeAll' }) : null)),
            h('section', { class: 'card', id: 'causes', 'aria-labelledby': 'causes-title' },
                h('div', { class: 'bar-line' }, h('h2', { id: 'causes-title' }, 'By cause'),
                    choice('Dead-lettered', SINCE, this.range, range => this.choose(range)),
                    h('span', { class: 'quiet' }, failures.complete ? `${many(failures.lookedAt, 'dead letter', 'dead letters')} read`
                        : `Only the newest ${count(failures.lookedAt)} were read.`,
                        failures.more ? ' Only the largest causes are shown.' : null)),
                failures.causes.length ? h('table', { class: 'list', 'data-table': 'causes', 'aria-label': 'Dead letters by cause' },
                    h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'n' }, 'Count'),
                        ['Cause', 'Route', 'First to last', 'When', 'Hosts', 'Newest'].map(one => h('th', { scope: 'col' }, one)),
                        acts ? h('th', { scope: 'col' }, h('span', { class: 'unseen' }, 'Actions')) : null)),
                    h('tbody', {}, failures.causes.map(cause => this.row(cause, acts, may))))
                        : h('p', { class: 'quiet', 'data-empty': '' }, 'No dead letters' + (this.since ? ' in that time.'
                        : '. No message was given up.'))),
            this.app.jobs.view(this.queue, q.actions.length ? actions : null),
            this.list.view(q, actions, ['dead'])
        ];
    }

    row(cause, acts, may) {
        const { since, queue } = this, actions = this.app.actions;
        return memo('tr', cause.cause, JSON.stringify([cause, acts, since, at(cause.last)]), () => h('tr', { 'data-cause': cause.cause },
            h('td', { class: 'n dead', 'data-label': 'Count' }, h('b', {}, count(cause.count))),
            h('th', { scope: 'row', class: 'why' }, name(cause.exception || reasonWord(cause.reason)),
                cause.exception && cause.reason !== 'failed' ? h('small', { class: 'quiet' }, ' ' + reasonWord(cause.reason)) : null,
                cause.message ? h('small', { class: 'quiet block', title: cause.message }, name(cause.message)) : null),
            h('td', { class: 'some', 'data-label': 'Route' }, cause.route ? name(cause.route) : '–'),
                h('td', { class: 'time', 'data-label': 'First to last' }, at(cause.first, { digits: 0 }), ' – ', at(cause.last, { digits: 0 })),
            h('td', { class: 'chart', 'data-label': 'When' }, spark(cause.bars, 'From the first to the last')),
                h('td', { class: 'some', 'data-label': 'Hosts' }, cause.hosts.length ? cause.hosts.map((host, i) => [i ? ', ' : '', name(host)])
                : '–'),
            h('td', { class: 'newest', 'data-label': 'Newest' }, cause.newest.length
                ? cause.newest.map(id => messageLink(queue, id, id.replace(/@\d+$/, ''))) : '–'),
            acts ? h('td', { class: 'do' }, may('redriveAll') ? button(`Redrive ${count(cause.count)}…`,
                () => actions.redriveCause(queue, cause, since), { key: 'redrive', 'data-action': 'redriveCause', ...explained('redrive') }) : null,
                may('purgeAll') ? button(`Purge ${count(cause.count)}…`, () => actions.purgeCause(queue, cause, since),
                    { key: 'purge', class: 'danger', 'data-action': 'purgeCause' }) : null) : null));
    }
}
