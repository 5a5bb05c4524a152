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
    return { about: field("about"), kind: field("kind"), source: section("source"), tools: section("tools"), input: section("input") };
}

/** A value on one line, with spaces. JSON has no line breaks inside texts. */
const line = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

/** The mocks of examples/mocks.json for these tools. */
function mocks(...names) {
    const { tools } = JSON.parse(read("examples/mocks.json"));
    const rows = names.map((name) => {
        const { mock, ...policy } = tools[name];
        const answers = mock.map((answer) => `      ${line(answer)}`).join(",\n");
        const rest = Object.entries(policy).map(([key, value]) => `,\n    ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
        return `  ${JSON.stringify(name)}: {\n    "mock": [\n${answers}\n    ]${rest.join("")}\n  }`;
    });
    return `{\n${rows.join(",\n")}\n}\n`;
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Programs of examples/, with inputs for each. */
function first() {
    const group = "First steps";
    const order = { "user-id": "u1", country: "DE", lines: [{ price: 10, quantity: 3 }, { price: 4.5, quantity: 2 }] };
    const slow = JSON.parse(read("examples/slow.json")).tools;
    const stock = JSON.stringify({ tools: slow }, null, 2);
    const from = (file, title, tools, input) => ({ group, title, source: read(`examples/${file}`), tools, inputs: json(input) });
    return [
        from("notify.workflow.yaml", "Mail to a user, if verified", mocks("get-user", "send-email"), { "user-id": "u1", message: "Hello" }),
        from("data/first-try.workflow.yaml", "A first try, with mistakes", mocks("get-user", "send-email"), { "user-id": "u1" }),
        from("purchase.constrained.json", "A purchase that is rolled back", mocks("reserve", "charge", "release"), { item: "lamp", "payment-id": "bad", amount: 12.5 }),
        from("stock.workflow.yaml", "Prices, looked up side by side", `${stock}\n`, { items: ["lamp", "chair", "desk", "rug"] }),
        from("orders.workflow.yaml", "An order with a discount", mocks("get-user", "send-email"), { order }),
        from("checkout.ilo", "A checkout in ID text", mocks("reserve", "charge", "release"), { item: "lamp", "payment-id": "p1", amount: 12.5 }),
        from("notify.mcp.json", "Tools of MCP servers", mocks("get-user", "send-email"), { "user-id": "u2", message: "Hello" }),
        from("sum.tool-calling.json", "Numbers only, no tools", "", { numbers: [3, 7, 11] }),
    ];
}

/** Programs of spec/programs. */
function programs() {
    const all = readdirSync(join(root, "spec/programs")).filter((name) => name.endsWith(".case")).sort();
    const examples = all.map((name) => {
        const { about, kind, source, tools, input } = readCase(read(`spec/programs/${name}`));
        const title = about ?? basename(name, ".case");
        return { group: kind ?? "Others", title, source: `${source ?? ""}\n`, tools: tools ? `${tools}\n` : "", inputs: `${input ?? "{}"}\n` };
    });
    const group = ({ group }) => group;
    return examples.filter(({ source }) => source.trim() !== "").sort((a, b) => group(a).localeCompare(group(b)));
}

/** The source of a module with all examples. */
export function examplesModule() {
    return `export const EXAMPLES = ${JSON.stringify([...first(), ...programs()])};`;
}
