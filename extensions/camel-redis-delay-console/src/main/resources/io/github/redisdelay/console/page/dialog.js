// Asks before something is done: says what will happen, keeps the focus inside, gives it back, and shows what really happened.

import { h, name, patch } from './dom.js';
import { button } from './words.js';

let serial = 0;

/**
 * Asks, and does it.
 *
 * @param question title, text (function that describes what will happen), verb (the button), danger, type (a name to be typed), fields
 *     (function that describes further fields), ready (function: whether they are filled), act (async: does it, returns the outcome),
 *     changed (function of a refusal: takes over what changed, returns what to say of it; null if the question cannot be asked any more)
 * @param done is given the outcome
 */
export function ask(question, done) {
    const number = ++serial, back = document.activeElement, dialog = document.createElement('dialog');
    let typed = '', busy = false, trouble = null, over = false;
    const close = () => dialog.close();
    const ready = () => !busy && !over && (!question.type || typed === question.type) && (!question.ready || question.ready());
    const go = async event => {
        event.preventDefault();
        if (!ready()) return;
        busy = true;
        trouble = null;
        show();
        try {
            const outcome = await question.act();
            close();
            done(outcome);
        } catch (problem) {
            trouble = problem.kind === 'changed' && question.changed ? question.changed(problem) : null;
            over = problem.kind === 'changed' && !trouble;
            trouble ||= problem.kind === 'gone' ? ['No answer came, so it is not known whether it was done. Load it again before you repeat it.']
                : [problem.message];
        }
        busy = false;
        show();
    };
    const show = () => patch(dialog, [h('form', { on: { submit: go } },
        h('h2', { id: 'dialog-title-' + number }, question.title),
        h('div', { class: 'what' }, question.text()),
        question.fields ? question.fields(show) : null,
        question.type && !over ? h('label', { class: 'typed' }, h('span', {}, 'Type ', h('code', {}, name(question.type)), ' to go on'),
            h('input', { name: 'confirm', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
                on: { input: event => { typed = event.target.value; show(); } } })) : null,
        h('div', { role: 'alert', class: 'trouble' }, trouble ? h('p', {}, h('span', { class: 'sign error', 'aria-hidden': 'true' }, '▲'), ' ',
            trouble) : null),
        h('div', { class: 'buttons' }, button('Back', close, { 'data-dialog': 'back', autofocus: !question.type && !question.fields }),
            over ? null : h('button', { type: 'submit', class: question.danger ? 'danger' : 'main', 'aria-disabled': ready() ? null : 'true',
                'data-dialog': 'go' }, busy ? 'Please wait …' : question.verb)))]);
    dialog.setAttribute('aria-labelledby', 'dialog-title-' + number);
    dialog.addEventListener('close', () => {
        dialog.remove();
        (back?.isConnected ? back : document.querySelector('main [tabindex="-1"]'))?.focus();
    });
    show();
    document.body.append(dialog);
    dialog.showModal();
    const [first] = ['input', '.choice button', '[data-dialog=back]'].map(one => dialog.querySelector(one)).filter(Boolean);
    first.focus();
}
