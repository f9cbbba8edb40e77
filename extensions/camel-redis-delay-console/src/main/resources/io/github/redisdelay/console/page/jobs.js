// The long-running work that was started: how far it is, a way to stop it, and what came of it.

import { h } from './dom.js';
import { timed } from './time.js';
import { button, count, queueLink } from './words.js';

const UNSTOPPABLE = ['check', 'promote', 'reschedule', 'cancelGroup'];
const KINDS = { redrive: 'Redrive', purge: 'Purge', cancelAll: 'Cancel all', cancelGroup: 'Cancel group', promote: 'Deliver now', reschedule: 'Move',
    check: 'Check', import: 'Import' };

/** Tells of jobs that ended since they were looked at last. */
export class Jobs {
    constructor(ended) {
        this.running = new Set();
        this.ended = ended;
        this.list = [];
    }

    take(jobs) {
        this.list = jobs;
        for (const job of jobs) {
            if (job.running) this.running.add(job.id);
            else if (this.running.delete(job.id)) this.ended(job);
        }
    }

    view(queue, actions) {
        const list = this.list.filter(job => !queue || job.queue === queue);
        if (!list.length) return null;
        return h('section', { key: 'jobs', class: 'card', 'aria-labelledby': 'jobs-title' }, h('h2', { id: 'jobs-title' }, 'Jobs'),
            h('ul', { class: 'jobs' }, list.map(job => h('li', { key: job.id, 'data-job': job.id, 'data-running': String(job.running) },
                h('span', { class: 'kind' }, KINDS[job.kind] || job.kind, ' ', queue ? null : queueLink(job.queue)),
                job.running ? h('progress', { ...(job.found === null ? {} : { max: Math.max(1, job.found), value: job.done }),
                    'aria-label': 'Progress' }) : null,
                h('span', { class: 'figure' }, count(job.done), job.found === null ? '' : ' of ' + count(job.found)),
                h('span', { class: 'what' }, job.running ? job.waits ? [h('span', { class: 'sign warning', 'aria-hidden': 'true' }, '!'),
                    ' waits for Redis: ', timed(job.waits)] : 'running' : job.error
                    ? [h('span', { class: 'sign error', 'aria-hidden': 'true' }, '▲'), ' failed: ', timed(job.error)]
                    : [job.stopped ? 'stopped. ' : '✓ ended. ', job.result ? timed(job.result) : '']),
                job.running && actions && !UNSTOPPABLE.includes(job.kind)
                    ? button('Stop …', () => actions.stop(job), { 'data-action': 'stop' }) : null))));
    }
}
