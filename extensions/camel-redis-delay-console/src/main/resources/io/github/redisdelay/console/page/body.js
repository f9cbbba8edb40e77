// Lays out bodies for reading. JSON is only indented, letter by letter: no number or text of it is ever read or changed.

/** JSON text with line breaks and indents; anything that is not JSON comes out as it is, or nearly so. */
export function pretty(text) {
    let out = '', depth = 0, quoted = false;
    const line = () => '\n' + '  '.repeat(Math.min(depth, 40));
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (quoted) {
            out += c;
            if (c === '\\') out += text[++i] ?? '';
            else if (c === '"') quoted = false;
        } else if (c === '"') {
            quoted = true;
            out += c;
        } else if (c === '{' || c === '[') {
            const end = /^\s*([}\]])/.exec(text.slice(i + 1, i + 65));
            if (end) {
                out += c + end[1];
                i += end[0].length;
            } else {
                depth++;
                out += c + line();
            }
        } else if (c === '}' || c === ']') {
            depth = Math.max(0, depth - 1);
            out += line() + c;
        } else if (c === ',') {
            out += c + line();
        } else if (c === ':') {
            out += ': ';
        } else if (!/\s/.test(c)) {
            out += c;
        }
    }
    return out;
}

/** Hexadecimal digits as lines of sixteen bytes, each with its place and its letters. */
export function dump(hex) {
    if (!/^([0-9a-f]{2})*$/i.test(hex)) return hex;
    const lines = [];
    for (let i = 0; i < hex.length; i += 32) {
        const bytes = hex.slice(i, i + 32).match(/../g);
        const letters = bytes.map(byte => { const code = parseInt(byte, 16); return code > 31 && code < 127 ? String.fromCharCode(code) : '.'; });
        lines.push((i / 2).toString(16).padStart(6, '0') + '  ' + bytes.join(' ').padEnd(47) + '  ' + letters.join(''));
    }
    return lines.join('\n');
}
