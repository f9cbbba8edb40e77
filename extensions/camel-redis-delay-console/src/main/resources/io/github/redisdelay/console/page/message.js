// Screen C: one message in whatever state it is: its way so far, its last failure, headers and body.

import { bodyAddress, get } from './api.js';
import { pretty, dump } from './body.js';
import { h, memo, name } from './dom.js';
import { at, distance, millis, now, span } from './time.js';
import { badge, choice, count, finding, groupLink, isOfDead, many, messageBadge, messageLink, path, pauseEnd, reasonWord, remark,
    stateWord } from './words.js';

/** A message that is late by less is on its way to a consumer. */
const PATIENCE = 5000;

export class Message {
    constructor(params, app) {
        Object.assign(this, { app, queue: params.get('queue') || '', id: params.get('id') || '',
            group: params.get('group'), views: new Map() });
    }

    async load() {
        const [found, q] = await Promise.all([get('message', { queue: this.queue, id: this.id, group: this.group }).catch(problem => {
            if (problem.kind !== 'notFound') throw problem;
            return { messages: [], deadLetters: [] };
        }), get('queue', { queue: this.queue })]);
        Object.assign(this, { data: found, q, rights: q.actions });
    }

    title() {
        return `${this.id} · ${this.queue}`;
    }

    view() {
        const { messages, deadLetters } = this.data;
        return [
            path(this.queue, 'Message'),
            messages.length ? null : [h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, name(this.id))),
                h('p', { class: 'nothing', 'data-empty': '' },
                    'It is not in this queue: it was delivered, cancelled or purged, or it never was there.')],
            messages.map((m, i) => this.one(m, i)),
            deadLetters.length > 1 || deadLetters.length && !messages.length ? h('section', { class: 'card' },
                h('h2', {}, 'Its dead letters, newest first'),
                h('ul', { id: 'dead-letters' }, deadLetters.map(id => h('li', { key: id }, messageLink(this.queue, id, id, this.group))))) : null
        ];
    }

    one(m, i) {
        const { q } = this, due = m.state === 'delayed' && !m.parked && millis(m.due) < now();
        // A limit of the queue delays it: then no message is overdue.
        const limited = due && q.parked > 0 && !q.overdue, late = due && !limited, parked = m.parked || limited;
        return h('article', { key: m.state + m.id, class: 'message', 'data-id': m.id, 'data-state': m.state },
            h('div', { class: 'head' }, h(i ? 'h2' : 'h1', { tabindex: '-1' }, name(m.id)),
                messageBadge(parked ? 'parked' : m.state), late ? badge('late') : null,
                h('div', { class: 'buttons' }, this.rights.length ? this.app.actions.buttons(this.queue, this.rights, m) : null)),
            h('dl', { class: 'tiles' },
                m.state === 'dead' ? tile('dead-lettered', distance(m.deadAt || m.due), at(m.deadAt || m.due))
                    : tile('due', late ? distance(m.due).replace('ago', 'late') : distance(m.due), at(m.due), late ? 'late' : ''),
                m.state === 'leased' ? tile('lease ends', distance(m.leaseEnd), at(m.leaseEnd)) : null,
                    m.state === 'leased' ? tile('leased by', name(m.leaseOwner || 'unknown')) : null,
                m.messageId !== m.id ? tile('message', name(m.messageId)) : null,
                tile('deliveries begun', count(m.attempts), m.reason === 'none' ? null : 'the last: ' + reasonWord(m.reason)),
                    m.group ? tile('group', groupLink(this.queue, m.group)) : tile('priority', count(m.priority)),
                m.schedule ? schedule(m.schedule) : null,
                Object.entries(m.policy || {}).filter(([, value]) => value).map(([key, value]) => tile(words(key.replace(/Micros$/, '')),
                    key.endsWith('Micros') ? span(value / 1000) : name(value)))),
            m.unreadable ? h('p', { class: 'remark warning' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, '!'), h('bdi', {}, m.unreadable))
                : null,
            this.timeline(m, parked), m.state === 'delayed' ? this.why(m, due, limited) : null,
            m.failure ? h('section', { class: 'card failure', 'aria-label': 'Last failure' }, h('h2', {}, 'Last failure'),
                h('p', {}, delivery(m.failure), ' · ', at(m.failure.at), m.failure.host ? [' on ', name(m.failure.host)] : null,
                    m.failure.route ? [' · route ', name(m.failure.route)] : null, m.failure.endpoint ? [' · ', name(m.failure.endpoint)] : null),
                h('p', { class: 'exception' }, h('strong', {}, name(m.failure.exception || 'no exception')),
                    m.failure.message ? [': ', name(m.failure.message)] : null)) : null,
            this.headers(m.headers || []), this.body(m));
    }

    /** Why a message waits that could be delivered, or will not be when it is due: what is known of its queue. */
    why(m, due, limited) {
        const paused = this.data.group?.pausedUntil;
        if (m.parked || millis(paused) > Math.max(millis(m.due), now())) {
            return h('section', { class: 'card remarks', 'aria-label': 'Why it waits' }, h('ul', { id: 'remarks' }, this.parked(m)));
        }
        if (m.schedule && !this.q.consumers) {
            return h('section', { class: 'card remarks' }, h('ul', { id: 'remarks' }, remark('warning',
                'No consumer is there, so it does not run.',
                m.schedule.declaredBy === 'route' ? ' Was its route removed? Then end the schedule.' : null)));
        }
        const { q } = this, known = q.diagnosis.filter(one => !isOfDead(one.text));
        const lags = ['late', 'paused'].includes(q.state);
        if (!(due ? limited || lags || now() - millis(m.due) > PATIENCE : q.state === 'paused')) return null;
        return h('section', { class: 'card remarks', 'aria-labelledby': 'why-title' },
            h('h2', { id: 'why-title' }, due ? 'Why it waits' : '', due && lags ? ': ' : '',
                lags ? [name(this.queue), ' is ', stateWord(q.state)] : null),
            h('ul', { id: 'remarks' }, known.length ? known.map(one => remark(one.level, finding(this.queue, one.text)))
                : remark('info', q.consumers ? `${many(q.consumers, 'consumer is', 'consumers are')} there, and what was due before it goes first.`
                    : 'No consumer is there.')));
    }

    /** Until when the group of a message is paused; or its place there, what the limit is, and which message is the first. */
    parked(m) {
        const { group } = this.data;
        if (!group) return remark('info', 'Others of its group ', name(m.group), ' come first: it is delivered when they are finished.');
        const { first, before, places } = group;
        if (group.pausedUntil) {
            return remark('warning', 'Its group ', groupLink(this.queue, group.name), ' is paused until ', pauseEnd(group.pausedUntil),
                ': none of its ', many(group.messages, 'message', 'messages'), ' is delivered before.');
        }
        return [remark('info', 'Its group ', groupLink(this.queue, group.name), ' has parked it: ', before === null ? 'more than 256' : count(before),
            ' of its ', many(group.messages, 'message', 'messages'), ' come first, and ', many(places, 'is', 'are'),
            ' delivered at a time (groupConcurrency).'),
            first && first.id !== m.id ? remark(first.attempts && first.state === 'delayed' ? 'warning' : 'info', 'The first one is ',
                messageLink(this.queue, first.id, first.id, group.name), first.state === 'leased'
                    ? [', leased by ', name(first.leaseOwner || 'a consumer')] : first.attempts
                    ? [': ', many(first.attempts, 'delivery has', 'deliveries have'), ' begun, and the next one is due ', distance(first.due)]
                    : [', due ', distance(first.due)], '.') : null];
    }

    timeline(m, parked) {
        const steps = [];
        if (m.scheduled) steps.push(['past', 'scheduled', m.scheduled]);
        if (m.failure) steps.push(['failed', `${delivery(m.failure)} failed`, m.failure.at]);
        if (m.state === 'leased') steps.push(['current', `delivery ${m.attempts} is leased`, m.due, 'due '], ['next', 'lease ends', m.leaseEnd]);
        if (m.state === 'delayed') {
            const which = m.attempts ? `delivery ${m.attempts + 1}` : 'first delivery', late = !parked && millis(m.due) < now();
            steps.push([late ? 'late' : 'next', late || parked ? `waits for its ${which}` : which, m.due, late || parked ? 'was due ' : 'due ']);
        }
        if (m.state === 'dead') steps.push(['failed', 'dead-lettered', m.deadAt || m.due]);
        return h('ol', { class: 'timeline', 'aria-label': 'Its way' }, steps.map(([kind, word, time, before], i) => h('li', { key: i, class: kind },
            h('b', {}, h('span', { 'aria-hidden': 'true' }, { past: '● ', failed: '✕ ', current: '◐ ', late: '▲ ', next: '○ ' }[kind]), word),
                h('span', {}, before || '', at(time, { digits: 0 })), h('small', {}, distance(time)))));
    }

    headers(headers) {
        return h('section', { class: 'card', 'aria-labelledby': 'headers-title' },
            h('h2', { id: 'headers-title' }, 'Headers ', h('span', { class: 'quiet' }, count(headers.length))),
            headers.length ? h('table', { class: 'list small', 'data-table': 'headers' },
                h('thead', {}, h('tr', {}, ['Name', 'Value', 'Type'].map(one => h('th', { scope: 'col' }, one)))),
                h('tbody', {}, headers.map(one => h('tr', { key: one.name }, h('th', { scope: 'row' }, name(one.name)),
                    h('td', { 'data-label': 'Value' }, one.hidden ? [h('span', { 'aria-hidden': 'true' }, '•••••'),
                        h('span', { class: 'quiet' }, ' hidden')] : one.value === null ? h('span', { class: 'quiet' }, 'null') : name(one.value)),
                        h('td', { class: 'quiet', 'data-label': 'Type' }, one.type || ''))))) : null);
    }

    body(m) {
        const { body } = m;
        if (!body) return null;
        const options = [body.kind === 'json' ? ['pretty', 'pretty'] : null, body.text !== null ? ['raw', 'raw'] : null,
            body.hex ? ['hex', 'hex'] : null].filter(Boolean);
        const chosen = options.some(([value]) => value === this.views.get(m.id)) ? this.views.get(m.id) : options[0]?.[0];
        const text = { pretty: () => pretty(body.text), raw: () => body.text, hex: () => dump(body.hex) }[chosen];
        return h('section', { class: 'card', 'aria-labelledby': 'body-title' },
            h('div', { class: 'bar-line' }, h('h2', { id: 'body-title' }, 'Body'),
                h('span', { class: 'quiet' }, [m.contentType ? [name(m.contentType), ', '] : null, body.kind, ', ',
                many(body.size, 'byte', 'bytes')]),
                body.shown && body.kind !== 'empty' ? [choice('View', options, chosen, value => { this.views.set(m.id, value); this.app.show(); },
                    { id: 'body-view' }), h('a', { class: 'button', href: bodyAddress(this.queue, m.id, m.group), download: 'body.bin',
                    'data-body': 'download' }, 'Download')] : null),
            !body.shown ? h('p', { class: 'quiet' }, 'Bodies are not shown here (an option of the console).') : body.kind === 'empty'
                ? h('p', { class: 'quiet' }, 'It has no body.')
                : memo('pre', m.id + chosen, body.size + ' ' + m.due + chosen, () =>
                    h('pre', { tabindex: '0', translate: 'no', 'data-body': chosen, dir: 'auto' },
                    text ? text() : '')),
            body.truncated ? h('p', { class: 'remark warning' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, '!'),
                h('span', {}, 'This is its beginning only. Download it to see the rest.')) : null);
    }
}

const schedule = one => [tile('rule', name(one.rule), one.declaredBy ? 'declared by a ' + one.declaredBy : null),
    tile('run', distance(one.run), at(one.run)), one.next ? tile('next run', distance(one.next), at(one.next))
        : tile('next run', '–', 'the rule cannot be evaluated here'), one.last ? tile('last run', distance(one.last), at(one.last)) : null,
    one.runsGivenUp ? tile('runs given up', count(one.runsGivenUp)) : null];
const delivery = failure => failure.attempt ? `delivery ${failure.attempt}` : 'a delivery';
const words = key => key.replace(/([A-Z])/g, ' $1').toLowerCase();
const tile = (word, figure, more, mark) => h('div', { class: 'tile ' + (mark || ''), 'data-figure': word }, h('dt', {}, word),
    h('dd', {}, h('b', {}, figure), more ? h('small', {}, more) : null));
