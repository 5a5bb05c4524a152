// An empty value for each input of a function.

const EMPTY: { [type: string]: string } = { text: '""', number: "0", bool: "false", nil: "null" };

/** A record with every input, for a person to fill in. */
export function template(inputs: readonly (readonly [name: string, type: string])[]): string {
    if (inputs.length === 0) return "{}";
    const value = (type: string): string => EMPTY[type] ?? (type.startsWith("list") ? "[]" : "{}");
    const lines = inputs.map(([name, type]) => `  ${JSON.stringify(name)}: ${value(type)}`);
    return `{\n${lines.join(",\n")}\n}`;
}
