// Screen B: one queue: how it is, what will become due when, its consumers, and its messages.

import { get } from './api.js';
import { line, Outlook } from './chart.js';
import { keep, kept } from './choices.js';
import { h, name } from './dom.js';
import { MessageList } from './list.js';
import { at, distance, isoOf, millis, now, span } from './time.js';
import { address, badge, button, choice, count, explained, finding, groupLink, remark, stateOf } from './words.js';

const SPANS = [['minute', 'minute'], ['hour', 'hour'], ['day', 'day'], ['month', 'month'], ['all', 'all']];
const STATES = ['delayed', 'parked', 'leased', 'dead'];
const SERIES = [['delayed', 'delayed', count], ['oldestOverdueMicros', 'overdue age', micros => micros ? span(micros / 1000) : '0'],
    ['leased', 'leased', count], ['dead', 'dead', count]];

export class Queue {
    constructor(params, app) {
        this.app = app;
        this.name = params.get('name') || '';
        this.span = kept('span', SPANS.map(([value]) => value), 'hour');
        this.list = new MessageList(this.name, STATES.find(state => state === params.get('state')) || 'delayed',
            () => app.reload(), params.get('group'));
        this.chart = new Outlook(() => app.show(), (...bars) => this.chose(...bars));
        this.tables = { outlook: false, history: false };
    }

    async load() {
        const asked = this.span;
        const [data, outlook] = await Promise.all([get('queue', { queue: this.name }), get('outlook', { queue: this.name, span: asked }),
            this.list.load()]);
        this.data = data;
        if (asked !== this.span) return;
        const known = (...times) => times.every(time => Number.isFinite(millis(time)));
        this.outlook = { ...outlook, bars: outlook.bars.filter(bar => known(bar.from, bar.to)),
            burst: known(outlook.burst?.at) ? outlook.burst : null };
    }

    title() {
        return (this.data?.overdue ? `${count(this.data.overdue)} overdue · ` : '') + this.name;
    }

    /** Lists what is due in some bars, or also in those that were chosen before. */
    chose(first, last, further) {
        const { bars } = this.outlook, before = further && this.list.to ? this.list : null;
        this.list.begin('delayed', { from: [bars[first].from, before?.from ?? bars[first].from].sort()[0],
            to: [bars[last].to, before?.to ?? bars[last].to].sort()[1] });
        this.app.reload();
        document.getElementById('messages').scrollIntoView({ block: 'nearest' });
    }

    view() {
        const q = this.data, actions = this.app.actions, may = right => q.actions.includes(right);
        return [
            h('div', { class: 'head' },
                h('h1', { tabindex: '-1' }, name(this.name)), badge(stateOf(q)), q.partitions > 1
                    ? h('span', { class: 'quiet' }, `${q.partitions} partitions`) : null,
                h('div', { class: 'buttons' },
                    q.state !== 'paused' && may('pause') ? button('Pause …', () => actions.pause(this.name, q),
                        { key: 'pause', 'data-action': 'pause' }) : null,
                    q.state === 'paused' && may('resume') ? button('Resume …', () => actions.resume(this.name, q),
                        { key: 'resume', class: 'main', 'data-action': 'resume' }) : null,
                    may('check') ? button('Check …', () => actions.check(this.name), { key: 'check',
                        'data-action': 'check', ...explained('check') }) : null,
                    may('cancelAll') ? button('Cancel all …', () => actions.cancelAll(this.name, q), { key: 'cancelAll', class: 'danger',
                        'data-action': 'cancelAll' }) : null)),
            q.diagnosis.length ? h('section', { class: 'card remarks', 'aria-label': 'Diagnosis' },
                h('ul', { id: 'remarks' }, q.diagnosis.map(one => remark(one.level, finding(this.name, one.text))))) : null,
            h('dl', { class: 'tiles', id: 'figures' },
                tile('delayed', count(q.delayed)), tile('overdue', count(q.overdue),
                    q.overdue ? 'oldest ' + span(q.oldestOverdueMicros / 1000) : 'none is late', q.overdue ? 'late' : ''),
                q.parked ? tile('parked', count(q.parked), 'oldest ' + span(q.oldestParkedMicros / 1000)) : null,
                tile('leased', count(q.leased)),
                tile('dead', q.dead ? this.toDead(count(q.dead)) : '0', !q.dead ? 'none'
                    : this.toDead(q.deadLastHour ? `${count(q.deadLastHour)} in the last hour` : 'by cause'), q.dead ? 'dead' : ''),
                tile('consumers', count(q.consumers), q.consumers ? null : 'no consumer', q.consumers || !q.delayed ? '' : 'late'),
                tile('next due', q.nextDue ? (millis(q.nextDue) < now() ? 'now' : distance(q.nextDue)) : '–', q.nextDue ? at(q.nextDue) : null),
                tile('last due', q.lastDue ? distance(q.lastDue) : '–', q.lastDue ? at(q.lastDue, { digits: 0 }) : null)),
            this.outlook ? this.outlookCard(q) : null,
            h('div', { class: 'columns' }, this.historyCard(q.history), this.consumersCard(q)),
            q.groups.length ? this.groupsCard(q.groups) : null,
            this.app.jobs.view(this.name, q.actions.length ? actions : null),
            this.list.view(q, actions, STATES.filter(state => state !== 'parked' || q.parked || this.list.state === state))
        ];
    }

    toDead(words) {
        return h('a', { href: address('dead', { queue: this.name }) }, words);
    }

    outlookCard(q) {
        const { from, to } = this.list, flip = what => { this.tables[what] = !this.tables[what]; this.app.show(); };
        return h('section', { class: 'card' + (q.state === 'paused' ? ' paused' : ''), id: 'outlook', 'aria-labelledby': 'outlook-title',
            on: { pointerup: () => this.chart.dropped(), pointerleave: () => this.chart.dropped() } },
            h('div', { class: 'bar-line' }, h('h2', { id: 'outlook-title' }, 'Outlook'),
                h('span', { class: 'quiet' }, 'messages that become due in the next'),
                choice('Span', SPANS, this.span, value => { this.span = value; keep('span', value); this.app.reload(); }, { id: 'spans' }),
                button('as a table', () => flip('outlook'), { class: 'plain', 'aria-pressed': String(this.tables.outlook), 'data-twin': 'outlook' })),
            this.tables.outlook ? this.chart.table(this.outlook) : this.chart.view(this.outlook,
                { chosen: from && to ? { from, to } : null, scale: this.span }));
    }

    historyCard(sampled) {
        const { since, stepMicros, ...history } = sampled || { since: null };
        const length = history.delayed?.length || 0,
            from = length && SERIES.map(([key]) => history[key].findIndex(value => value !== null)).filter(i => i >= 0).sort((a, b) => a - b)[0];
        return h('section', { class: 'card', id: 'history', 'aria-labelledby': 'history-title' },
            h('div', { class: 'bar-line' }, h('h2', { id: 'history-title' }, 'Until now'),
                since ? h('span', { class: 'quiet' }, 'observed since ', at(since, { digits: 0 })) : null,
                !length ? null : button('as a table', () => { this.tables.history = !this.tables.history; this.app.show(); },
                    { class: 'plain', 'aria-pressed': String(this.tables.history), 'data-twin': 'history' })),
            !length || from === undefined ? h('p', { class: 'quiet' }, 'Nothing was sampled yet.')
                : this.tables.history ? this.historyTable(history, stepMicros) : h('div', { class: 'series' }, SERIES.map(([key, label, words]) => {
                    const values = history[key].slice(from), known = values.filter(value => value !== null), most = Math.max(0, ...known),
                        latest = known.at(-1) ?? 0;
                    return h('figure', { key }, h('figcaption', {}, h('span', {}, label), h('b', {}, words(latest)),
                        h('small', { class: 'quiet' }, `most ${words(most)}`)),
                        line(values, { label: `${label}: now ${words(latest)}, at most ${words(most)}` }));
                })));
    }

    historyTable(history, stepMicros) {
        const length = history.delayed.length, every = Math.max(1, Math.ceil(length / 60)), rows = [];
        for (let i = length - 1; i >= 0; i -= every) {
            if (SERIES.some(([key]) => history[key][i] !== null)) rows.push([isoOf(now() - (length - 1 - i) * stepMicros / 1000),
                i]);
        }
        return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'History as a table' },
            h('table', { class: 'figures', 'data-table': 'history' },
            h('thead', {}, h('tr', {}, h('th', {}, 'about'), SERIES.map(([, label]) => h('th', { class: 'n' }, label)))),
            h('tbody', {}, rows.map(([time, i]) => h('tr', { key: i }, h('td', {}, at(time, { digits: 0 })),
                SERIES.map(([key, , words]) => h('td', { class: 'n' }, history[key][i] === null ? '–' : words(history[key][i]))))))));
    }

    groupsCard(groups) {
        return h('section', { class: 'card', id: 'groups', 'aria-labelledby': 'groups-title' },
            h('h2', { id: 'groups-title' }, 'Groups with the most parked messages'),
            h('table', { class: 'list small', 'data-table': 'groups' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Group'),
                h('th', { scope: 'col', class: 'n' }, 'Parked'), h('th', { scope: 'col', class: 'n' }, 'Messages'))),
            h('tbody', {}, groups.map(one => h('tr', { key: one.name }, h('th', { scope: 'row' }, groupLink(this.name, one.name)),
                h('td', { class: 'n', 'data-label': 'Parked' }, count(one.parked)),
                h('td', { class: 'n', 'data-label': 'Messages' }, count(one.messages)))))));
    }

    consumersCard(q) {
        return h('section', { class: 'card', id: 'consumers', 'aria-labelledby': 'consumers-title' },
            h('div', { class: 'bar-line' }, h('h2', { id: 'consumers-title' }, 'Consumers'),
                h('span', { class: 'quiet' }, q.consumers ? count(q.consumers) : 'none')),
            q.consumerList.length ? h('table', { class: 'list small' }, h('thead', {},
                h('tr', {}, h('th', { scope: 'col' }, 'Name'), h('th', { scope: 'col' }, 'Last seen'),
                h('th', { scope: 'col', class: 'n' }, 'Leased'))),
                h('tbody', {}, q.consumerList.map(one => {
                    const away = millis(q.time) - millis(one.lastSeen) > 140000;
                    return h('tr', { key: one.name, class: away ? 'away' : '' },
                        h('th', { scope: 'row' }, name(one.name), ' ', h('small', { class: 'quiet' }, one.version)),
                        h('td', { 'data-label': 'Last seen' }, away ? h('span', { class: 'late' }, h('span', { 'aria-hidden': 'true' }, '✕ '),
                            'gone, ') : null, distance(one.lastSeen)),
                        h('td', { class: 'n', 'data-label': 'Leased' }, count(one.leased)));
                }))) : h('p', { class: q.delayed ? 'late' : 'quiet' }, 'No consumer is there.'));
    }
}

const tile = (word, figure, more, mark) => h('div', { class: 'tile ' + (mark || ''), 'data-figure': word }, h('dt', {}, word),
    h('dd', {}, h('b', {}, figure), more ? h('small', {}, more) : null));
