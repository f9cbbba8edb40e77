// The actions on messages and queues: the questions, what they send, and what becomes of the answers.

import { post } from './api.js';
import { ask } from './dialog.js';
import { h, name } from './dom.js';
import { at, distance, field, isoOf, millis, now, read, wall, zoneName } from './time.js';
import { button, choice, count, explained, many, messageBadge, reasonWord } from './words.js';

// Of a cause just those that were looked at: it may have older ones, and get new ones.
const shown = cause => ({ cause: cause.cause, since: cause.first, until: cause.last, count: cause.count });
const seen = m => ({ id: m.id, group: m.group, state: m.state, due: m.due });

/** The facts of a message, as a question shows them. */
export function facts(m) {
    return h('dl', { class: 'facts' }, fact('id', name(m.id)), fact('state', messageBadge(m.state)),
        fact('due', [at(m.due), ' (', distance(m.due), ')']),
        m.schedule ? fact('rule', name(m.schedule.rule)) : null,
        m.leaseOwner ? fact('leased by', name(m.leaseOwner)) : null, m.attempts ? fact('deliveries begun', count(m.attempts)) : null);
}

const fact = (word, value) => h('div', {}, h('dt', {}, word), h('dd', {}, value));

/** The actions, each for a queue of which the page knows the rights. */
export class Actions {
    /** @param told is given each outcome, after which the figures are read again */
    constructor(told) {
        this.told = told;
    }

    run(question, what, body) {
        ask({ act: () => post(what, body()), ...question }, answer => this.told(answer));
    }

    /** A question of one message. If the message changed meanwhile, it is asked again of what it is now. */
    message(queue, m, what, question, extra = () => ({})) {
        let current = m;
        this.run({
            ...question,
            text: () => [h('p', { key: 'will' }, question.will(current)), facts(current)],
            changed: problem => {
                current = problem.answer.message || null;
                if (!current) {
                    current = m;
                    return null;
                }
                return [problem.message, ' The facts above are the new ones; decide again.'];
            }
        }, what, () => ({ queue, ...seen(current), ...extra() }));
    }

    cancel(queue, m) {
        this.message(queue, m, 'cancel', m.schedule ? {
            title: ['End the schedule ', name(m.id), '?'], verb: 'End the schedule', danger: true,
            will: now => ['No run follows', now.state === 'leased' ? '; the one that has begun goes on. ' : '. ', now.schedule?.declaredBy === 'route'
                ? 'A route declares it: where that still runs, the schedule is back within a minute. Pause the queue instead, or remove the route.'
                : 'Its message is removed, and nobody can bring it back.']
        } : {
            title: ['Cancel ', name(m.id), '?'], verb: 'Cancel the message', danger: true,
            will: now => now.state === 'leased'
                ? ['It is leased by ', name(now.leaseOwner || 'a consumer'),
                    ' now. Its work goes on; its acknowledgement will count for nothing, and no redelivery follows.']
                : 'It will never be delivered. It is removed with its body, and nobody can bring it back.'
        });
    }

    promote(queue, m) {
        this.message(queue, m, 'promote', {
            title: [m.schedule ? 'Run ' : 'Deliver ', name(m.id), ' now?'], verb: m.schedule ? 'Run now' : 'Deliver now',
            will: now => now.state === 'leased' ? 'It is leased already, and will be left alone.'
                : now.schedule ? 'It becomes due now, and its rule goes on from now: the run that it waited for is this one.'
                : 'It becomes due now. The next free consumer gets it, unless the queue is paused.'
        });
    }

    move(queue, m) {
        const times = this.times();
        this.message(queue, m, 'reschedule', {
            title: ['Move ', name(m.id), '?'], verb: 'Move the message', ...times,
            will: now => now.state === 'leased' ? 'It is leased now, and will be left alone.'
                : ['It becomes due at the new time instead of ', at(now.due), '. Its attempts stay counted.']
        }, times.time);
    }

    /**
     * The fields of a question for a new due time, and what they say.
     *
     * @param open the word for no time, which is chosen at first; null if there has to be one
     */
    times(label = 'New time', past = 'it becomes due at once', open = null) {
        const { date } = wall(now() + 86400000), options = [...open ? [['open', open]] : [], ['600', 'in 10 min'], ['3600', 'in 1 h'],
            ['tomorrow', 'tomorrow 09:00'], ['time', 'date and time']];
        let chosen = options[0][0], text = field(now() + 86400000);
        const target = () => chosen === 'tomorrow' ? read(date + 'T09:00') : read(text);
        return {
            fields: again => h('div', { class: 'move' },
                choice(label, options, chosen, value => { chosen = value; again(); }),
                chosen !== 'time' ? null : h('label', {}, 'Date and time (' + zoneName() + ')',
                    h('input', { type: 'datetime-local', step: '1', name: 'to', value: text,
                    on: { input: event => { text = event.target.value; again(); } } })),
                /\d|open/.test(chosen) ? null : h('p', { class: 'quiet' }, target() ? ['That is ', at(isoOf(target()), { date: 'always', digits: 0 }),
                    ', ', distance(isoOf(target())), target() < now() ? `: ${past}.` : '.'] : 'Write it as 2026-11-22 14:00:00.')),
            ready: () => /\d|open/.test(chosen) || target() !== null,
            time: () => chosen === 'open' ? {} : /\d/.test(chosen) ? { inMicros: Number(chosen) * 1000000 } : { to: isoOf(target()) }
        };
    }

    schedules(end, choose) {
        return choice('Recurring schedules', [['stay', 'recurring schedules stay'], ['end', 'end them, too']],
            end ? 'end' : 'stay', value => choose(value === 'end'));
    }

    redrive(queue, m) {
        this.run({
            title: ['Redrive ', name(m.messageId), '?'], verb: 'Redrive',
            text: () => [h('p', {}, 'It goes back into its queue and is due now; its attempts begin anew.',
                ' It stays dead if a message with its id is delayed or leased.'), facts(m)]
        }, 'redrive', () => ({ queue, id: m.id, group: m.group }));
    }

    purge(queue, m) {
        this.run({
            title: ['Purge the dead letter ', name(m.messageId), '?'], verb: 'Purge', danger: true,
            text: () => [h('p', {}, 'It is removed with its body, and nobody can bring it back.'), facts(m)]
        }, 'purge', () => ({ queue, id: m.id, group: m.group }));
    }

    pause(queue, q) {
        this.run({
            title: ['Pause ', name(queue), '?'], verb: 'Pause',
            text: () => h('p', {}, 'From now on no consumer is given a message, wherever it runs.',
                ` Leased messages (${count(q.leased)}) go on.`,
                ' Messages that become due meanwhile are delivered when it is resumed.')
        }, 'pause', () => ({ queue }));
    }

    resume(queue, q) {
        this.run({
            title: ['Resume ', name(queue), '?'], verb: 'Resume',
            text: () => h('p', {}, `${many(q.overdue, 'message that is overdue', 'messages that are overdue')} can be delivered at once`,
                q.consumers ? `, as fast as ${many(q.consumers, 'consumer takes', 'consumers take')} them.`
                    : '. No consumer is there now, so they stay delayed.')
        }, 'resume', () => ({ queue }));
    }

    check(queue) {
        this.run({
            title: ['Check ', name(queue), '?'], verb: 'Check',
            text: () => h('p', {}, 'Finds messages that are neither delayed nor leased,',
                ' as an evicted or deleted key leaves them behind, and makes them delayed again.',
                ' It goes in slices, beside the work, and cannot be stopped.')
        }, 'check', () => ({ queue }));
    }

    cancelAll(queue, q) {
        let schedules = false;
        this.run({
            title: ['Cancel all messages of ', name(queue), '?'], verb: `Cancel all ${count(q.delayed)}`, danger: true, type: queue,
            text: () => h('p', {}, h('strong', {}, `All delayed messages of this queue, ${count(q.delayed)} now`),
                ', are removed with their bodies and will never be delivered. Leased messages and dead letters stay.',
                ' You can stop it; what it has removed by then is gone.'),
            fields: again => this.schedules(schedules, value => { schedules = value; again(); })
        }, 'cancelAll', () => ({ queue, confirm: queue, schedules }));
    }

    redriveCause(queue, cause, since) {
        this.run({
            title: ['Redrive ', count(cause.count), ' of ', name(queue), '?'], verb: `Redrive ${count(cause.count)}`, type: queue,
            text: () => [h('p', {}, 'They go back into their queue and are due now, all at once; their attempts begin anew.',
                ' One stays dead if a message with its id is delayed or leased.'), condition(cause, since)]
        }, 'redrive', () => ({ queue, ...shown(cause) }));
    }

    purgeCause(queue, cause, since) {
        this.run({
            title: ['Purge ', count(cause.count), ' of ', name(queue), '?'], verb: `Purge ${count(cause.count)}`, danger: true, type: queue,
            text: () => [h('p', {}, 'They are removed with their bodies, and nobody can bring them back.'), condition(cause, since)]
        }, 'purge', () => ({ queue, ...shown(cause), confirm: queue }));
    }

    purgeAll(queue, dead, until) {
        this.run({
            title: ['Purge all dead letters of ', name(queue), '?'], verb: `Purge all ${count(dead)}`, danger: true, type: queue,
            text: () => h('p', {}, h('strong', {}, `All ${count(dead)} dead letters`),
                ' of this queue are removed with their bodies, and nobody can bring them back.')
        }, 'purge', () => ({ queue, all: true, until, count: dead, confirm: queue }));
    }

    stop(job) {
        this.run({
            title: 'Stop it?', verb: 'Stop', text: () => h('p', {}, 'What is done until now stays done: ', count(job.done), '.')
        }, 'stop', () => ({ job: job.id }));
    }

    /** The buttons for a message, as far as the rights go. */
    buttons(queue, rights, m, dots = true) {
        const may = right => rights.includes(right), end = dots ? ' …' : '…';
        const one = (right, text, run, props) => may(right) ? button(text, run, { key: right, ...explained(right),
            'data-action': right, 'data-id': m.id, 'aria-label': dots ? null : text + ' ' + m.id, ...props }) : null;
        if (m.state === 'dead') {
            return [one('redrive', 'Redrive' + end, () => this.redrive(queue, m)),
                one('purge', 'Purge' + end, () => this.purge(queue, m), { class: 'danger' })];
        }
        const waits = m.state === 'delayed', due = millis(m.due) <= now();
        const soon = m.schedule ? 'Run now' : dots ? 'Deliver now' : 'Now';
        return [waits && !due ? one('promote', soon + end, () => this.promote(queue, m)) : null,
            waits ? one('reschedule', 'Move' + end, () => this.move(queue, m)) : null,
            one('cancel', (m.schedule ? 'End' : 'Cancel') + end, () => this.cancel(queue, m), { class: 'danger' })];
    }
}

/** Exactly what a cause's action is done to, in words. */
function condition(cause, since) {
    return h('dl', { class: 'facts' }, fact('how many', count(cause.count)), fact('why', [name(cause.exception || reasonWord(cause.reason))]),
        cause.route ? fact('route', name(cause.route)) : null, fact('dead-lettered', [at(cause.first), ' to ', at(cause.last)]),
            since ? fact('only since', at(since)) : null);
}
