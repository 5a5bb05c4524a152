// The examples of the page, from the programs of the repository.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const read = (path) => readFileSync(join(root, path), "utf8");

/** The sections of a case file, and the fields before them. */
function readCase(text) {
    const [head, ...rest] = text.split(/^=== /m);
    const field = (name) => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1];
    const sections = rest.map((section) => {
        const end = section.indexOf("\n");
        return { title: section.slice(0, end), text: section.slice(end + 1) };
    });
    const section = (name) => sections.find(({ title }) => title === name || title.startsWith(`${name} `))?.text.trimEnd();
    const [source, tools, input, outcome, trace] = ["source", "tools", "input", "outcome", "trace"].map(section);
    return { about: field("about"), kind: field("kind"), source, tools, input, outcome, trace };
}

/** A value on one line, with spaces. JSON has no line breaks inside texts. */
const line = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** A tools file, with a line for each key of a tool and for each answer of its mock. */
function toolsFile(tools) {
    const rows = Object.entries(tools).map(([name, tool]) => {
        const keys = Object.entries(tool).map(([key, value]) => {
            const several = key === "mock" && Array.isArray(value);
            return `      ${JSON.stringify(key)}: ${several ? `[\n${value.map((answer) => `        ${line(answer)}`).join(",\n")}\n      ]` : line(value)}`;
        });
        return `    ${JSON.stringify(name)}: {\n${keys.join(",\n")}\n    }`;
    });
    return `{\n  "tools": {\n${rows.join(",\n")}\n  }\n}\n`;
}

/** The tools of a tools file with these names. */
function mocks(file, ...names) {
    const { tools } = JSON.parse(read(file));
    return toolsFile(Object.fromEntries(names.map((name) => [name, tools[name]])));
}

const typeOf = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : { string: "string", number: "number", boolean: "boolean", object: "object" }[typeof value]);

/** A schema that all of these values fit. */
function schemaOf(values) {
    const types = [...new Set(values.map(typeOf))];
    if (types.length === 0) return {};
    const schema = { type: types.length === 1 ? types[0] : types };
    const records = values.filter((value) => typeOf(value) === "object");
    if (records.length > 0) {
        const names = [...new Set(records.flatMap(Object.keys))];
        schema.properties = Object.fromEntries(names.map((name) => [name, schemaOf(records.filter((one) => name in one).map((one) => one[name]))]));
        schema.required = names.filter((name) => records.every((one) => name in one));
    }
    const items = values.filter(Array.isArray).flat();
    if (items.length > 0) schema.items = schemaOf(items);
    return schema;
}

/** Tools with schemas: those that they have, otherwise of the calls in a trace and the answers of the mocks. */
function withSchemas(tools, trace) {
    const calls = trace.split("\n").filter((one) => one !== "").map((one) => JSON.parse(one));
    return Object.fromEntries(Object.entries(tools).map(([name, tool]) => {
        const made = calls.filter((call) => call.tool === name).map((call) => call.args ?? {});
        const answers = [tool.mock ?? []].flat().filter((one) => "returns" in one).map((one) => one.returns);
        const input_schema = made.length > 0 ? schemaOf(made) : { type: "object", additionalProperties: true };
        return [name, { input_schema, ...(answers.length > 0 ? { output_schema: schemaOf(answers) } : {}), ...tool }];
    }));
}

/** Programs of examples/, with inputs and the end of the run for each. */
function first() {
    const group = "First steps";
    const order = { "user-id": "u1", country: "DE", lines: [{ price: 10, quantity: 3 }, { price: 4.5, quantity: 2 }] };
    const [ok, err] = ["ok", "err"].map((status) => ({ status, rolledBack: 0 }));
    const mail = mocks("examples/mocks.json", "get-user", "send-email");
    const shop = mocks("examples/mocks.json", "reserve", "charge", "release");
    const stock = mocks("examples/slow.json", "get-price", "count-stock");
    const from = (file, title, tools, input, ends) =>
        ({ group, title, source: read(`examples/${file}`), tools, inputs: json(input), ends, wrong: file.includes("first-try") });
    return [
        from("notify.workflow.yaml", "Mail to a user, if verified", mail, { "user-id": "u1", message: "Hello" }, ok),
        from("data/first-try.workflow.yaml", "A first try, with mistakes", mail, { "user-id": "u1" }, ok),
        from("purchase.constrained.json", "A purchase that is rolled back", shop, { item: "lamp", "payment-id": "bad", amount: 12.5 }, { ...err, rolledBack: 1 }),
        from("stock.workflow.yaml", "Prices, looked up side by side", stock, { items: ["lamp", "chair", "desk", "rug"] }, ok),
        from("orders.workflow.yaml", "An order with a discount", mail, { order }, ok),
        from("checkout.ilo", "A checkout in ID text", shop, { item: "lamp", "payment-id": "p1", amount: 12.5 }, ok),
        from("notify.mcp.json", "Tools of MCP servers", mail, { "user-id": "u2", message: "Hello" }, err),
        from("sum.tool-calling.json", "Numbers only, no tools", "", { numbers: [3, 7, 11] }, ok),
    ];
}

/** Programs of spec/programs. */
function programs() {
    const all = readdirSync(join(root, "spec/programs")).filter((name) => name.endsWith(".case")).sort();
    const examples = all.map((name) => {
        const { about, kind, source, tools, input, outcome, trace } = readCase(read(`spec/programs/${name}`));
        const { status, rolled_back: undone = [] } = JSON.parse(outcome);
        return {
            group: kind ?? "Others",
            title: about ?? basename(name, ".case"),
            source: `${source ?? ""}\n`,
            tools: tools ? toolsFile(withSchemas(JSON.parse(tools), trace ?? "")) : "",
            inputs: `${input ?? "{}"}\n`,
            ends: { status, rolledBack: undone.length },
            wrong: false,
        };
    });
    const group = ({ group }) => group;
    return examples.filter(({ source }) => source.trim() !== "").sort((a, b) => group(a).localeCompare(group(b)));
}

/** All examples. */
export const examples = () => [...first(), ...programs()];

/** The source of a module with all examples. */
export function examplesModule() {
    return `export const EXAMPLES = ${JSON.stringify(examples())};`;
}
