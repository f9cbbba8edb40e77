// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The arguments of a call, each under a name, so that a test can change one: a head, and items that begin with an id. A name
 * that ends with {@code #} is that of a whole number; it is used without that sign.
 */
final class ScriptCall {

    private final List<String> headNames;
    private final List<String> itemNames;
    private final Object[] arguments;

    private ScriptCall(List<String> headNames, List<String> itemNames, Object[] arguments) {
        this.headNames = headNames;
        this.itemNames = itemNames;
        this.arguments = arguments;
    }

    /** A call without items. */
    static ScriptCall of(String names, Object... values) {
        List<String> head = names.isEmpty() ? List.of() : List.of(names.split(" "));
        if (head.size() != values.length) {
            throw new IllegalArgumentException("names " + names + " for " + values.length + " values");
        }
        return new ScriptCall(head, List.of(), ScriptRules.bytes(values));
    }

    /** This call with one more item. The names are those of the first one. */
    ScriptCall item(String names, Object... values) {
        List<String> items = List.of(names.split(" "));
        if (items.size() != values.length || !itemNames.isEmpty() && !itemNames.equals(items)) {
            throw new IllegalArgumentException("an item of " + names + " behind one of " + itemNames);
        }
        return new ScriptCall(headNames, items, ScriptRules.items(arguments, ScriptRules.bytes(values)));
    }

    Object[] arguments() {
        return arguments.clone();
    }

    /** How many arguments are before the first item. */
    int head() {
        return headNames.size();
    }

    /** The number of arguments of an item; 0 if the script has none. */
    int width() {
        return itemNames.size();
    }

    boolean has(String name) {
        return plain(headNames).contains(name);
    }

    /** The positions of whole numbers. */
    List<Integer> numbers() {
        return IntStream.range(0, arguments.length)
                .filter(i -> nameAt(i).endsWith("#"))
                .boxed()
                .toList();
    }

    String nameAt(int position) {
        return position < head() ? headNames.get(position) : itemNames.get((position - head()) % width());
    }

    private static List<String> plain(List<String> names) {
        return names.stream().map(name -> name.replace("#", "")).toList();
    }

    /** These arguments with another value in the head. */
    ScriptCall with(String name, Object value) {
        return at(indexIn(headNames, name), value);
    }

    /** These arguments with another value in the first item of an id. */
    ScriptCall with(String id, String name, Object value) {
        for (int item = head(); item < arguments.length; item += width()) {
            if (new String((byte[]) arguments[item], StandardCharsets.ISO_8859_1).equals(id)) {
                return at(item + indexIn(itemNames, name), value);
            }
        }
        throw new IllegalArgumentException("no item '" + id + "'");
    }

    private static int indexIn(List<String> names, String name) {
        int index = plain(names).indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("no argument '" + name + "' in " + names);
        }
        return index;
    }

    /** These arguments with another value at a position, see {@link #numbers}. */
    ScriptCall at(int position, Object value) {
        Object[] changed = arguments.clone();
        changed[position] = ScriptRules.bytes(value)[0];
        return new ScriptCall(headNames, itemNames, changed);
    }
}
