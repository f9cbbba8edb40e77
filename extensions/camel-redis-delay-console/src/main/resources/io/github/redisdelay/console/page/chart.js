// Draws bars and lines as SVG, each with a table of the same figures.

import { h } from './dom.js';
import { at, millis, now, shift, span, wall } from './time.js';
import { count, many } from './words.js';

const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const STEPS = [10000, 30000, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 10 * DAY,
    30 * DAY, 90 * DAY];

/** Tells how wide an element is, now and whenever that changes. */
export function measured(seen) {
    // In the next frame: what is drawn here could change the width once more, and browsers complain of that.
    return node => new ResizeObserver(() => requestAnimationFrame(() => {
        const width = Math.round(node.clientWidth);
        if (width) seen(width);
    })).observe(node);
}

/** A row of small bars without axes, for a cell of a table. */
export function spark(counts, label) {
    const most = Math.max(1, ...counts), wide = 8, high = 22;
    const bars = counts.map((n, i) => n ? `M${i * wide} ${high}h${wide - 2}v${-Math.max(2, Math.round(n / most * high))}h${2 - wide}z`
        : `M${i * wide} ${high}h${wide - 2}v-1h${2 - wide}z`);
    const title = `${label}: ${counts.map(count).join(', ')}`;
    return h('svg', { class: 'spark', viewBox: `0 0 ${counts.length * wide} ${high}`, width: counts.length * wide, height: high, role: 'img',
        'aria-label': title },
        h('title', {}, title), h('path', { d: bars.join('') }));
}

/** The counts without those few that are so large that all others would be flat beside them: these are cut off, and say their number. */
function usual(counts) {
    const sorted = counts.filter(Boolean).sort((a, b) => a - b), most = 5 * (sorted[Math.floor(sorted.length * 0.9) - 1] ?? Infinity);
    return sorted.length < 10 ? counts : counts.filter(n => n <= most);
}

function round(most) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
    return [1, 2, 2.5, 5, 10].map(n => n * power).find(n => n >= most);
}

const inside = (time, digits) => millis(time) - now() > DAY || wall(millis(time)).date !== wall(now()).date
    ? at(time, { date: 'always', digits }) : at(time, { digits });

/** The chart of what becomes due when. A click, a drag or Enter chooses bars, with Shift further ones; the arrow keys walk through them. */
export class Outlook {
    constructor(again, choose) {
        Object.assign(this, { again, choose, width: 760, over: null, drag: null, current: 0 });
    }

    view(data, { chosen, scale }) {
        const { bars } = data, small = this.width < 520, high = 150, top = 18, bottom = 22;
        const left = small ? 34 : 46, late = small ? 56 : 66, right = data.after && !small ? 58 : 22;
        const x0 = left + late + 22, wide = Math.max(120, this.width - x0 - right), step = wide / Math.max(1, bars.length);
        const most = round(Math.max(1, ...usual(bars.map(bar => bar.count))));
        const y = n => top + high - (n ? Math.max(2, Math.min(1, n / most) * high) : 0);
        const dragged = this.drag ? [Math.min(...this.drag), Math.max(...this.drag)] : [bars.length, -1];
        const isChosen = bar => chosen && !this.drag && middle(bar) >= millis(chosen.from) && middle(bar) < millis(chosen.to);
        const band = chosen && !this.drag ? [chosen.from, chosen.to].map(time => x0 + place(bars, millis(time)) * step) : [0, 0];
        this.current = Math.min(this.current, Math.max(0, bars.length - 1));
        const over = this.over === null ? null : bars[this.over];
        const lines = [0, most / 2, most].filter(n => Number.isInteger(n)).map(n => [
            h('line', { class: 'grid', x1: left, x2: this.width - right, y1: y(0) - n / most * high, y2: y(0) - n / most * high }),
            h('text', { class: 'tick', x: left - 6, y: y(0) - n / most * high + 4, 'text-anchor': 'end' }, count(n))]);
        return h('div', { class: 'outlook', made: measured(width => { this.width = width; this.again(); }) },
            h('p', { class: 'readout', 'data-outlook': 'readout' }, over ? [h('strong', {}, many(over.count, 'message', 'messages')), ' due from ',
                inside(over.from, 0), ' to ', inside(over.to, 0)]
                : data.burst ? [h('span', { class: 'sign warning', 'aria-hidden': 'true' }, '⚡'), ' Burst: ',
                    h('strong', {}, count(data.burst.count)), ' due within one second at ', inside(data.burst.at, 0), '.']
                    : h('span', { class: 'quiet' }, !bars.length ? 'Nothing to show.'
                        : 'Click a bar to list its messages. Drag over several, or click another one with Shift, to list theirs.'),
                small && data.after ? h('span', { class: 'quiet' }, ` ${count(data.after)} more are due later.`) : null),
            h('svg', { class: 'bars', viewBox: `0 0 ${this.width} ${top + high + bottom}`, width: this.width, height: top + high + bottom,
                role: 'group',
                'aria-label': 'Outlook: what becomes due when. Arrow keys walk, Enter lists a bar, Shift and Enter all bars up to one.' },
                lines,
                h('g', { class: 'late' + (data.overdue ? '' : ' none') }, h('title', {},
                    many(data.overdue, 'message is', 'messages are') + ' overdue'),
                    h('rect', { x: left + 8, y: y(data.overdue), width: late - 16, height: top + high - y(data.overdue) }),
                    data.overdue > most ? cut(left + 8, late - 16, top) : null,
                    h('text', { class: 'figure', x: left + late / 2, y: Math.max(11, y(data.overdue) - 4), 'text-anchor': 'middle' },
                        (data.overdue > most ? '↑ ' : '') + count(data.overdue)),
                    h('text', { class: 'tick', x: left + late / 2, y: top + high + 16, 'text-anchor': 'middle' }, 'overdue')),
                h('line', { class: 'now', x1: x0 - 4, x2: x0 - 4, y1: top, y2: top + high + 6 }),
                h('text', { class: 'tick', x: x0 - 4, y: top + high + 16, 'text-anchor': 'middle' }, 'now'),
                band[1] > band[0] ? h('rect', { class: 'band', x: band[0], y: top - 6, width: band[1] - band[0], height: high + 6 }) : null,
                bars.map((bar, i) => this.bar(bar, i, { x: x0 + i * step, step, y, top, high, data, most,
                    marked: i >= dragged[0] && i <= dragged[1] ? ' chosen dragged' : isChosen(bar) ? ' chosen' : '' })),
                ticks(bars, scale, x0, step, wide).map(([x, text]) => h('text', { class: 'tick', x, y: top + high + 16, 'text-anchor': 'middle' },
                    text)),
                data.after && !small ? h('text', { class: 'tick', x: this.width - 4, y: top + 10, 'text-anchor': 'end' },
                    h('title', {}, 'due after the last bar'), '+ ' + count(data.after)) : null,
                data.after && !small ? h('text', { class: 'tick', x: this.width - 4, y: top + 24, 'text-anchor': 'end' }, 'later') : null));
    }

    bar(bar, i, { x, step, y, top, high, data, most, marked }) {
        const burst = data.burst && data.burst.at >= bar.from && data.burst.at < bar.to;
        const ended = event => {
            const [from, to] = this.drag || [i, i];
            this.drag = null;
            this.choose(Math.min(from, to), Math.max(from, to), event.shiftKey);
        };
        return h('g', {
            key: i, class: 'bar' + marked + (burst ? ' burst' : ''), role: 'button', tabindex: i === this.current ? '0' : '-1',
                'data-bar': i, 'data-count': bar.count,
            'aria-label': `${many(bar.count, 'message', 'messages')} due from ${when(bar.from)} to ${when(bar.to)}${burst ? ', with a burst' : ''}`,
            on: {
                pointerdown: event => {
                    if (event.button) return;
                    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
                    this.drag = [i, i];
                    this.again();
                },
                pointerenter: () => { this.over = i; if (this.drag) this.drag[1] = i; this.again(); },
                pointerleave: () => { if (this.over === i) this.over = null; this.again(); },
                pointerup: ended,
                focus: () => { this.over = this.current = i; this.again(); },
                blur: () => { this.over = null; this.again(); },
                keydown: event => this.key(event, i, data.bars.length)
            }
        },
        h('rect', { class: 'hit', x, y: top - 6, width: step, height: high + 6 }),
        h('rect', { class: 'body', x: x + Math.min(1, step * 0.1), y: y(bar.count), width: Math.max(1, step - Math.min(2, step * 0.2)),
            height: top + high - y(bar.count) }),
        burst || bar.count > most ? h('text', { class: 'figure', x: x + step / 2, y: Math.max(10, y(bar.count) - 4), 'text-anchor': 'middle',
            'aria-hidden': 'true' },
            burst ? h('tspan', { class: 'flash' }, '⚡') : null, bar.count > most ? ' ↑ ' + count(bar.count) : null) : null,
        bar.count > most ? cut(x, step, top) : null);
    }

    key(event, i, length) {
        const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: length - 1 }[event.key];
        if (event.key === 'Enter' || event.key === ' ') {
            event.preventDefault();
            this.choose(i, i, event.shiftKey);
        } else if (to >= 0 && to < length) {
            event.preventDefault();
            this.current = to;
            event.currentTarget.parentNode.querySelector(`[data-bar="${to}"]`).focus();
        }
    }

    /** Forgets a drag that ended outside of the bars. */
    dropped() {
        if (this.drag) { this.drag = null; this.again(); }
    }

    table(data) {
        return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Outlook as a table' },
            h('table', { class: 'figures', 'data-table': 'outlook' },
            h('thead', {}, h('tr', {}, h('th', {}, 'from'), h('th', {}, 'to'), h('th', { class: 'n' }, 'messages due'))),
            h('tbody', {}, h('tr', { key: 'late' }, h('td', { colspan: '2' }, 'overdue'), h('td', { class: 'n' }, count(data.overdue))),
                data.bars.map((bar, i) => h('tr', { key: i }, h('td', {}, inside(bar.from, 0)), h('td', {}, inside(bar.to, 0)),
                    h('td', { class: 'n' }, count(bar.count)))),
                h('tr', { key: 'after' }, h('td', { colspan: '2' }, 'later'), h('td', { class: 'n' }, count(data.after))))));
    }
}

const middle = bar => (millis(bar.from) + millis(bar.to)) / 2;

/** How many bars there are until a time, in fractions: bars begin at now, so a time moves through them. */
function place(bars, time) {
    const i = bars.findIndex(bar => millis(bar.to) > time);
    if (i < 0) return bars.length;
    return i + Math.max(0, (time - millis(bars[i].from)) / (millis(bars[i].to) - millis(bars[i].from)));
}

const when = iso => { const { date, time } = wall(millis(iso)); return (date === wall(now()).date ? '' : date + ' ') + time; };

/** The mark across a bar that goes on beyond the chart. */
const cut = (x, wide, top) => h('path', { class: 'cut', d: `M${x} ${top + 10}l${wide / 2} -4l${wide / 2} 4v4l${-wide / 2} -4l${-wide / 2} 4z` });

/** Where the words under the axis stand: at round times of the chosen zone, or, where the bars grow, at every few of them. */
function ticks(bars, scale, x0, step, wide) {
    if (!bars.length) return [];
    const room = Math.max(2, Math.floor(wide / 74)), first = millis(bars[0].from), last = millis(bars[bars.length - 1].to), found = [];
    if (scale === 'all') {
        const every = Math.ceil(bars.length / room);
        bars.forEach((bar, i) => { if (i && i % every === 0) found.push([x0 + i * step, '+' + span(millis(bar.from) - first)]); });
        return found;
    }
    const gap = STEPS.find(one => (last - first) / one <= room) || STEPS[STEPS.length - 1];
    for (let t = Math.ceil((first + shift(first)) / gap) * gap; ; t += gap) {
        const time = t - shift(t - shift(first));
        if (time >= last) return found;
        const x = x0 + (time - first) / (last - first) * wide, { date, time: clock } = wall(time);
        if (x - x0 > 38) found.push([x, gap >= DAY || clock === '00:00:00' ? date.slice(5) : gap < MINUTE ? clock : clock.slice(0, 5)]);
    }
}

/** A line with its area; gaps where nothing was sampled. */
export function line(values, { width = 240, high = 44, label }) {
    const known = values.filter(value => value !== null), most = Math.max(1, ...known);
    const x = i => (i / Math.max(1, values.length - 1) * width).toFixed(1), y = value => (high - 2 - value / most * (high - 6)).toFixed(1);
    const runs = [];
    values.forEach((value, i) => {
        if (value === null) return;
        if (i === 0 || values[i - 1] === null) runs.push([]);
        runs[runs.length - 1].push(x(i) + ' ' + y(value));
    });
    const path = run => run.length === 1 ? `M${run[0]}h2` : 'M' + run.join('L');
    return h('svg', { class: 'line', viewBox: `0 0 ${width} ${high}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
        h('path', { class: 'area', d: runs.map(run => path(run) + `V${high}H${run[0].split(' ')[0]}z`).join('') }),
            h('path', { class: 'stroke', d: runs.map(path).join('') }));
}
