// Describes elements and brings the document into line with them: only what differs is touched, so focus, selection and scroll stay.

const SVG = 'http://www.w3.org/2000/svg';
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** A description of an element. Props: key, class, on {event: function}, value, made(node); all others are attributes. */
export function h(tag, props, ...kids) {
    return { tag, props: props || {}, kids };
}

/** A part that is described again only if its stamp differs from the one before. */
export function memo(tag, key, stamp, describe) {
    return { tag, props: { key }, stamp, describe };
}

/** Text in which control characters and invisible or direction-changing ones are spelt out. */
export function shown(text, keep = '') {
    return String(text).replace(UNSEEN, c => keep.includes(c) ? c : '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

/**
 * A name that somebody else chose: an id, a queue, a host; a dash if there is none. Its direction does not touch the text around it,
 * and no translation touches it.
 */
export function name(text, props) {
    if (text === null || text === undefined) return '–';
    return h('bdi', { ...props, translate: 'no', class: 'name ' + (props?.class || '') }, text === '' ? '(empty)' : shown(text));
}

/** Makes the children of an element what is described: elements and texts, in lists of any depth; null and false are nothing. */
export function patch(parent, described) {
    const old = new Map(), seen = new Map();
    for (const node of parent.childNodes) old.set(node.hookKey, node);
    const wanted = described.flat(Infinity).filter(one => one !== null && one !== undefined && one !== false).map(one => {
        const tag = one.tag || '#text';
        const ordinal = seen.get(tag) || 0;
        let key = tag + (one.props?.key === undefined ? '#' + ordinal : '=' + one.props.key);
        if (one.props?.key === undefined) seen.set(tag, ordinal + 1);
        while (seen.has('!' + key)) key += "'";
        seen.set('!' + key, 1);
        const node = old.get(key) || create(one, parent);
        old.delete(key);
        node.hookKey = key;
        update(node, one);
        return node;
    });
    let home = null;
    for (const node of old.values()) {
        if (node.contains(document.activeElement)) home = parent.closest('[tabindex="-1"]');
        node.remove();
    }
    order(parent, wanted);
    home?.focus({ preventScroll: true });
}

/** Moves the others around the child that has the focus or the selection: moving that one would lose it. */
function order(parent, wanted) {
    const active = document.activeElement, chosen = document.getSelection()?.anchorNode;
    let pin = wanted.findIndex(node => node.parentNode === parent && node.contains(active));
    if (pin < 0 && chosen) pin = wanted.findIndex(node => node.parentNode === parent && node.contains(chosen));
    if (pin < 0) pin = Math.max(0, wanted.findIndex(node => node.parentNode === parent));
    if (wanted.length && wanted[pin].parentNode !== parent) parent.append(wanted[pin]);
    for (let i = pin - 1; i >= 0; i--) if (wanted[i].nextSibling !== wanted[i + 1]) parent.insertBefore(wanted[i], wanted[i + 1]);
    for (let i = pin + 1; i < wanted.length; i++) {
        if (wanted[i - 1].nextSibling !== wanted[i]) parent.insertBefore(wanted[i], wanted[i - 1].nextSibling);
    }
}

function create(one, parent) {
    if (!one.tag) return document.createTextNode('');
    const svg = one.tag === 'svg' || parent.namespaceURI === SVG;
    return svg ? document.createElementNS(SVG, one.tag) : document.createElement(one.tag);
}

function update(node, one) {
    if (!one.tag) {
        if (node.hookText !== one) node.data = shown(one, '\n\t');
        node.hookText = one;
        return;
    }
    if (one.describe) {
        if (node.hookStamp === one.stamp) return;
        node.hookStamp = one.stamp;
        one = one.describe();
    }
    const before = node.hookProps || {}, first = !node.hookProps;
    node.hookProps = one.props;
    for (const key of Object.keys(before)) if (!(key in one.props)) set(node, key, null, before[key]);
    for (const [key, value] of Object.entries(one.props)) if (first || before[key] !== value) set(node, key, value, before[key]);
    patch(node, one.kids);
    if (first && one.props.made) one.props.made(node);
}

function set(node, key, value, before) {
    if (key === 'key' || key === 'made') return;
    if (key === 'on') {
        for (const type of Object.keys({ ...before, ...value })) {
            if (!node.hookOn?.[type]) node.addEventListener(type, event => node.hookOn[type]?.(event));
            node.hookOn = { ...node.hookOn, [type]: value?.[type] };
        }
    } else if (value === null || value === undefined || value === false) {
        node.removeAttribute(key);
    } else if (key === 'value') {
        if (node.value !== value) node.value = value;
    } else {
        node.setAttribute(key, value === true ? '' : shown(value, '\n\t'));
    }
}
