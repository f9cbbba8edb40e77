// The actions on all messages of a group.

import { h, name } from './dom.js';
import { button } from './words.js';

/** The buttons for a group, as far as the rights go. */
export function groupButtons(actions, queue, rights, group, paused) {
    const about = [actions, queue, group];
    return [paused ? ['resume', 'Resume …', resume] : ['pause', 'Pause …', pause], ['promote', 'Deliver now …', promote],
        ['reschedule', 'Move …', move], ['cancelAll', 'Cancel all …', cancel],
    ['purgeAll', 'Purge dead letters …', purge]].filter(([right]) => rights.includes(right))
        .map(([right, text, run]) => button(text, () => run(...about), { key: right, 'data-group': right,
            class: right.endsWith('All') ? 'danger' : right === 'resume' ? 'main' : null }));
}

function pause(actions, queue, group) {
    const times = actions.times('Pause', 'that changes nothing', 'until it is resumed');
    actions.run({
        title: ['Pause the group ', name(group), '?'], verb: 'Pause', ...times,
        text: () => h('p', {}, 'From now on no consumer is given a message of the group, wherever it runs. Leased messages go on.',
            ' Other groups go on.')
    }, 'pause', () => ({ queue, group, ...times.time() }));
}

function resume(actions, queue, group) {
    actions.run({
        title: ['Resume the group ', name(group), '?'], verb: 'Resume',
        text: () => h('p', {}, 'Its messages that are due can be delivered at once, as many at a time as its limits say.')
    }, 'resume', () => ({ queue, group }));
}

function promote(actions, queue, group) {
    actions.run({
        title: ['Deliver the group ', name(group), ' now?'], verb: 'Deliver now',
        text: () => h('p', {}, 'All messages of the group become due now. As many are delivered at a time as its limit says.',
            ' Recurring schedules stay.')
    }, 'promote', () => ({ queue, group }));
}

function move(actions, queue, group) {
    const times = actions.times();
    actions.run({
        title: ['Move the group ', name(group), '?'], verb: 'Move the messages', ...times,
        text: () => h('p', {}, 'All messages of the group that are not leased become due at the new time. Recurring schedules stay.')
    }, 'reschedule', () => ({ queue, group, ...times.time() }));
}

function cancel(actions, queue, group) {
    let schedules = false;
    actions.run({
        title: ['Cancel all messages of the group ', name(group), '?'], verb: 'Cancel them all', danger: true, type: group,
        text: () => h('p', {}, 'All messages of the group are removed with their bodies, leased ones included: their work goes on,',
            ' and they do not come again. Dead letters stay.'),
        fields: again => actions.schedules(schedules, value => { schedules = value; again(); })
    }, 'cancelAll', () => ({ queue, group, confirm: group, schedules }));
}

function purge(actions, queue, group) {
    actions.run({
        title: ['Purge all dead letters of the group ', name(group), '?'], verb: 'Purge them all', danger: true, type: group,
        text: () => h('p', {}, 'All dead letters of the group that no consumer has leased are removed for good. Its messages stay.')
    }, 'purge', () => ({ queue, group, confirm: group }));
}
