// The frame of the page: which screen is shown, reading it again every two seconds, what is said above and below it, and the keys.

import { get } from './api.js';
import { Actions } from './actions.js';
import { Dead } from './dead.js';
import { h, name, patch, shown } from './dom.js';
import { Jobs } from './jobs.js';
import { help } from './keys.js';
import { Message } from './message.js';
import { Queue } from './queue.js';
import { Find, Queues } from './queues.js';
import { ahead, at, choose, chosenMode, modes, now, isoOf, serverZone, span, timed, zoneName } from './time.js';
import { address, button, choice } from './words.js';

const PERIOD = 2000, LONGEST = 8000, TOLD_FOR = 20000;
/** Each screen, and the values that its address needs. */
const SCREENS = new Map([['', [Queues]], ['queue', [Queue, 'name']], ['message', [Message, 'queue', 'id']], ['dead', [Dead, 'queue']],
    ['find', [Find, 'id']]]);

class App {
    constructor() {
        this.me = null;
        this.trouble = null;
        this.failures = 0;
        this.told = [];
        this.address = address;
        this.actions = new Actions(answer => this.tell(answer));
        this.jobs = new Jobs(job => this.tell({ outcome: job.error ? 'failed' : 'done',
            text: `${job.queue}: ${job.error || job.result || 'ended'}` }));
    }

    /**
     * Shows the screen that the address names; if it names none, all queues, and says so. The screen before stays until it was read, but
     * nothing can be done there any more.
     */
    route() {
        const [path, ...values] = location.hash.replace(/^#\/?/, '').split('?');
        const [Screen, ...needed] = SCREENS.get(path) || [], params = new URLSearchParams(values.join('?'));
        this.lost = !Screen || needed.some(one => !params.get(one));
        this.path = this.lost ? '' : path;
        this.params = this.lost ? new URLSearchParams() : params;
        this.screen = new (this.lost ? Queues : Screen)(this.params, this);
        this.loadedAt = this.missing = null;
        this.moved = true;
        const main = document.querySelector('main');
        main.inert = true;
        main.setAttribute('aria-busy', 'true');
        setTimeout(() => this.show(), 300);
        this.reload();
    }

    go(screen, values) {
        location.hash = address(screen, values);
    }

    replace(screen, values) {
        location.replace(address(screen, values));
    }

    /** Reads the screen's data again, shows it, and does so every two seconds while the page can be seen. */
    async reload() {
        clearTimeout(this.timer);
        const round = this.round = (this.round || 0) + 1, { screen } = this;
        try {
            if (!this.me || this.failures || round % 30 === 0) this.me = await get('me');
            serverZone(this.me.zone);
            const [jobs, missing] = await Promise.all([get('jobs'), screen.load().then(() => null, problem => {
                if (problem.kind !== 'notFound' || !this.queue()) throw problem;
                return problem;
            })]);
            if (round !== this.round) return;
            this.jobs.take(jobs.jobs);
            Object.assign(this, { missing, trouble: null, failures: 0, loadedAt: now() });
        } catch (problem) {
            if (round !== this.round) return;
            if (!problem.kind) console.error(problem);
            this.failures++;
            this.trouble = { problem, since: this.trouble?.since || now() };
        }
        this.show();
        const wait = this.failures > 3 ? Math.min(LONGEST, PERIOD * 2 ** (this.failures - 3)) : PERIOD;
        if (!document.hidden) this.timer = setTimeout(() => this.reload(), wait);
    }

    /** Brings the document into line with what is known. Several calls at once are one. */
    show() {
        if (this.due) return;
        this.due = true;
        queueMicrotask(() => {
            this.due = false;
            try {
                this.draw();
            } catch (problem) {
                console.error(problem);
                this.trouble = { problem, since: now() };
                patch(document.getElementById('banner'), this.banner());
            }
        });
    }

    draw() {
        const main = document.querySelector('main');
        patch(document.querySelector('header'), this.header());
        patch(document.getElementById('banner'), this.banner());
        patch(document.getElementById('told'), this.outcomes());
        main.classList.toggle('old', Boolean(this.trouble && this.loadedAt));
        main.inert = false;
        main.setAttribute('aria-busy', String(!this.loadedAt));
        patch(main, this.loadedAt ? [h('div', { key: location.hash, class: 'screen', 'data-screen': this.path || 'queues' },
            this.lost ? h('p', { class: 'remark warning', id: 'lost' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, '!'),
                h('span', {}, 'No screen has the address ', name(location.hash), '. These are all queues.')) : null,
            this.missing ? this.noQueue() : this.screen.view(),
            this.path === '' ? this.jobs.view(null, this.me.readOnly ? null : this.actions) : null)]
            : this.trouble ? [] : [h('p', { class: 'quiet' }, 'Reading …')]);
        const title = this.missing ? 'No such queue' : this.loadedAt ? shown(this.screen.title()) : null;
        document.title = [title, 'redis-delay', this.me?.environment ? shown(this.me.environment) : null].filter(Boolean).join(' · ');
        if (this.moved && this.loadedAt) {
            this.moved = false;
            window.scrollTo(0, 0);
            if (this.entered) document.querySelector('main h1')?.focus({ preventScroll: true });
            this.entered = true;
        }
    }

    /** The queue that the address names, if any. */
    queue() {
        return this.params.get(this.path === 'queue' ? 'name' : 'queue');
    }

    noQueue() {
        return [h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, 'No such queue')),
            h('p', { 'data-empty': 'queue' }, timed(this.missing.message)),
            h('p', {}, h('a', { class: 'button', href: '#/' }, 'All queues'))];
    }

    header() {
        const { me } = this, server = me?.server, queue = this.missing ? null : this.queue();
        const off = ahead();
        return [
            h('a', { class: 'home', href: '#/' }, h('img', { src: 'favicon.svg', alt: '', width: '20', height: '20' }), 'redis-delay'),
            me?.environment ? h('span', { class: 'environment' + (/prod/i.test(me.environment) ? ' production' : ''), id: 'environment' },
                '▪ ', name(me.environment)) : null,
            server ? h('span', { class: 'server quiet', id: 'server' }, [server.product, server.version].filter(Boolean).join(' '), ' ',
                name(server.address || ''), ' ',
                server.evictionPolicy && server.evictionPolicy !== 'unknown' ? name(server.evictionPolicy,
                    { class: server.evictionPolicy === 'noeviction' ? '' : 'late' }) : null,
                    server.appendOnly === null ? null : server.appendOnly ? ' AOF on' : h('span', { class: 'late' }, ' AOF off')) : null,
            h('form', { class: 'find', role: 'search', on: { submit: event => this.find(event) } },
                h('label', { class: 'unseen', for: 'find' }, 'Find a message by its id'),
                    h('input', { id: 'find', type: 'search', placeholder: 'find id   /', autocomplete: 'off', autocapitalize: 'off',
                    spellcheck: 'false' }),
                queue ? h('select', { id: 'find-where', 'aria-label': 'Where' }, h('option', { value: 'all' }, 'in all queues'),
                    h('option', { value: 'here' }, 'in this queue only')) : null),
            choice('Times', modes().map(mode => [mode, mode]), chosenMode(), mode => { choose(mode); this.show(); },
                { class: 'choice times', title: 'Times: ' + zoneName(), id: 'times' }),
            Math.abs(off) > 2000 ? h('span', { class: 'clock late', id: 'clock' },
                `This device's clock is ${span(off)} ${off > 0 ? 'behind' : 'ahead of'} Redis' clock; the page goes by Redis'.`) : null,
            me?.readOnly ? h('details', { class: 'readonly', id: 'readonly' }, h('summary', {}, 'read-only: why?'),
                h('p', {}, me.readOnlyBecause || '')) : null,
            me?.user ? h('span', { class: 'quiet' }, name(me.user)) : null
        ];
    }

    banner() {
        if (!this.trouble) return [];
        const { problem, since } = this.trouble, asked = ['forbidden', 'notFound', 'badRequest'].includes(problem.kind);
        return [h('div', { class: 'banner ' + (asked ? 'asked' : 'gone'), 'data-banner': problem.kind || 'page' },
            h('p', {}, h('span', { class: 'sign', 'aria-hidden': 'true' }, '▲ '),
                h('strong', {}, timed(words(problem))), ' ',
                this.loadedAt ? ['The figures below are old: from ', at(isoOf(this.loadedAt), { digits: 0 }), '. '] : null,
                asked ? h('a', { href: '#/' }, 'All queues') : ['Trying again since ', at(isoOf(since), { digits: 0 }), '.']))];
    }

    outcomes() {
        return this.told.map(one => h('div', { key: one.key, class: 'outcome ' + (one.outcome === 'done' ? 'done' : 'other'),
            'data-outcome': one.outcome },
            h('p', {}, h('span', { class: 'sign', 'aria-hidden': 'true' }, one.outcome === 'done' ? '✓ ' : '! '), timed(one.text)),
            button('×', () => this.untell(one.key), { 'aria-label': 'Close', class: 'plain' })));
    }

    /** Says what really happened. A job that was started is told of when it ends. */
    tell(answer) {
        const key = this.tells = (this.tells || 0) + 1;
        if (answer.outcome) {
            this.told = [...this.told.slice(-3), { ...answer, key }];
            setTimeout(() => this.untell(key), TOLD_FOR);
        } else if (answer.id) {
            this.jobs.take([answer, ...this.jobs.list]);
        }
        if (answer.outcome && answer.id) return;
        this.show();
        if (!document.hidden) this.reload();
    }

    untell(key) {
        this.told = this.told.filter(one => one.key !== key);
        this.show();
    }

    find(event) {
        event.preventDefault();
        const field = document.getElementById('find'), id = field.value, queue = this.missing ? null : this.queue();
        if (id === '') return;
        field.value = '';
        this.go('find', queue && document.getElementById('find-where')?.value === 'here' ? { id, queue } : { id, first: queue });
    }

    key(event) {
        const field = event.target.closest?.('input, select, textarea'), dialog = document.querySelector('dialog[open]');
        if (event.ctrlKey || event.metaKey || event.altKey || dialog) return;
        const after = this.before;
        this.before = null;
        if (event.key === 'Escape') {
            if (field) field.blur();
            else if (this.path === 'message' || this.path === 'dead') this.go('queue', { name: this.params.get('queue') });
            else if (this.path) this.go('');
        } else if (field) {
            return;
        } else if (event.key === '/') {
            event.preventDefault();
            document.getElementById('find').focus();
        } else if (event.key === 'q' && after === 'g') {
            this.go('');
        } else if (event.key === '?') {
            help();
        } else {
            this.before = event.key;
        }
    }
}

/** Says what went wrong, for people. */
function words(problem) {
    if (!problem.kind) return 'The page itself failed: ' + problem.message;
    return problem.kind === 'unreachable' ? `Redis cannot be reached (${problem.message}).` : problem.message;
}

const app = new App();
addEventListener('hashchange', () => app.route());
addEventListener('keydown', event => app.key(event));
document.addEventListener('visibilitychange', () => document.hidden ? clearTimeout(app.timer) : app.reload());
setInterval(() => { if (!document.hidden) app.show(); }, 1000);
app.route();
