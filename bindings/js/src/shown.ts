/** What `console.log` shows of an object in Node, Deno and Bun: its name and what it is, and nothing of its inside. */

/** The method that they call. */
export const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** An object of this name with these fields. What cannot be read, as of an object that is disposed, is left out. */
export function shown(name: string, fields: { readonly [field: string]: () => unknown }): object {
    const named = { [name]: class {} }[name] ?? Object;
    const found = Object.entries(fields).flatMap(([field, read]) => {
        try {
            return [[field, read()]];
        } catch {
            return [];
        }
    });
    return Object.assign(new named(), Object.fromEntries(found));
}
