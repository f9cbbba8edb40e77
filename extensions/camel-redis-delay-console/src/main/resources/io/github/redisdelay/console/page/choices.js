// Keeps how the reader wants to see things, and nothing else; a value that is not on the list counts as not kept.

export function kept(name, allowed, otherwise) {
    try {
        const value = localStorage.getItem('redis-delay.' + name);
        return allowed.includes(value) ? value : otherwise;
    } catch {
        return otherwise;
    }
}

export function keep(name, value) {
    try {
        localStorage.setItem('redis-delay.' + name, value);
    } catch {
        // A browser that keeps nothing shows the page all the same.
    }
}
