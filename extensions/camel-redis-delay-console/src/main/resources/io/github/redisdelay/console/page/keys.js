// The keys of the page, and the dialog that lists them.

import { h, patch } from './dom.js';
import { button } from './words.js';

const KEYS = [['/', 'find a message by its id'], ['g, then q', 'all queues'], ['Esc', 'leave a field or a dialog; else one level up'],
    ['← → Enter', 'walk through the outlook, list a bar'],
    ['Shift Enter', 'list all bars from the one that was listed up to this one; with the mouse: drag, or click with Shift'],
    ['?', 'these keys']];

export function help() {
    const dialog = document.createElement('dialog'), back = document.activeElement;
    patch(dialog, [h('h2', { id: 'keys-title' }, 'Keys'), h('dl', { class: 'keys' },
        KEYS.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)))),
        h('div', { class: 'buttons' }, button('Close', () => dialog.close()))]);
    dialog.setAttribute('aria-labelledby', 'keys-title');
    dialog.addEventListener('close', () => { dialog.remove(); back?.focus(); });
    document.body.append(dialog);
    dialog.showModal();
}
