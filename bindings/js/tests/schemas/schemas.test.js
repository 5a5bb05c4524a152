// Schemas of the libraries that hosts use: the signature that a model sees, the arguments that a tool gets, and the error for
// what JSON cannot say. `npm ci` in this folder installs them; zod 4 is in that of the package.
import { test } from "node:test";
import assert from "node:assert/strict";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod-3";
import * as ilo from "../../dist/node.js";

// A program that calls the tool with each field of the order.
const source = (order) => JSON.stringify({
    function: "f", input: { order: "any" }, output: "any", steps: [
        { let: "made", call: "t", args: Object.fromEntries(Object.keys(order).map((name) => [name, `$input.order.${name}`])) },
        { return: "$made" },
    ],
});

// The same order in each library.
const ORDERS = {
    "zod 4": z.object({
        id: z.int().min(1), to: z.email(), kind: z.enum(["new", "old"]).default("new"), note: z.string().nullish(),
        lines: z.array(z.object({ sku: z.string(), n: z.number().optional() })), tags: z.record(z.string(), z.boolean()).optional(),
        pay: z.discriminatedUnion("by", [z.object({ by: z.literal("card"), card: z.string() }), z.object({ by: z.literal("bill") })]),
    }),
    valibot: toStandardJsonSchema(v.object({
        id: v.pipe(v.number(), v.integer(), v.minValue(1)), to: v.pipe(v.string(), v.email()),
        kind: v.optional(v.picklist(["new", "old"]), "new"), note: v.nullish(v.string()),
        lines: v.array(v.object({ sku: v.string(), n: v.optional(v.number()) })), tags: v.optional(v.record(v.string(), v.boolean())),
        pay: v.variant("by", [v.object({ by: v.literal("card"), card: v.string() }), v.object({ by: v.literal("bill") })]),
    })),
    arktype: type({
        id: "number.integer >= 1", to: "string.email", kind: "'new' | 'old' = 'new'", "note?": "string | null",
        lines: type({ sku: "string", "n?": "number" }).array(), "tags?": { "[string]": "boolean" },
        pay: [{ by: "'card'", card: "string" }, "|", { by: "'bill'" }],
    }),
};
const ORDER = { id: 7, to: "a@b.co", lines: [{ sku: "x" }], pay: { by: "card", card: "1" } };

for (const [library, schema] of Object.entries(ORDERS)) {
    test(`${library}: a model sees the schema, and a tool gets what it makes of the arguments`, async () => {
        let got;
        const tools = new ilo.Tools({ t: { schema, execute: (given) => { got = given; return true; } } });
        const [signature] = tools.signatures();
        for (const part of [
            "id: number", "to: text", /kind\?: "(new|old)"\|"(new|old)"/, "note?: text|nil", "lines: list {sku: text, n?: number}",
            "tags?: record", /pay: \{by: "(card|bill)"\|"(card|bill)", card\?: text\}/,
        ]) {
            assert.ok(typeof part === "string" ? signature.includes(part) : part.test(signature), `${part} in ${signature}`);
        }
        const run = (order) => ilo.build(source(order), { tools }).run({ order }, { tools });
        assert.equal((await run(ORDER)).value, true);
        assert.equal(got.kind, "new");
        for (const [name, wrong] of [["id", 0], ["to", "b"], ["kind", "odd"], ["lines", [{ sku: 1 }]], ["pay", { by: "cash" }]]) {
            const outcome = await run({ ...ORDER, [name]: wrong });
            assert.notEqual(outcome.status, "ok", `${name} of ${library}`);
            assert.match(outcome.toText(), new RegExp(name), `${name} of ${library}`);
        }
        // An answer is held against a schema in the same way.
        const answers = { t: { outputSchema: schema, execute: () => ({ ...ORDER, id: "7" }) } };
        const answered = await ilo.build(source({}), { tools: answers }).run({ order: {} }, { tools: answers });
        assert.match(answered.toText(), /answer .*id/);
    });
}

test("what has no JSON schema names the tool, and the place where its library tells it", () => {
    const tools = (schema) => () => new ilo.Tools({ "send-mail": { schema, execute: () => null } });
    for (const [schema, why] of [
        [z.object({ deep: z.object({ at: z.date() }) }), /^tool `send-mail`: its `schema` has no JSON schema at `deep\.at`: .*[Dd]ate/],
        [z.object({ list: z.array(z.bigint()) }), /^tool `send-mail`: its `schema` has no JSON schema at `list\[\]`: /],
        [z.object({ id: z.symbol().optional() }), /^tool `send-mail`: its `schema` has no JSON schema at `id`: /],
        [toStandardJsonSchema(v.object({ at: v.date() })), /^tool `send-mail`: its `schema` has no JSON schema: .*date/],
        // These two have no JSON schema of their own.
        [v.object({ id: v.string() }), /^tool `send-mail`: the `schema` of valibot has no JSON schema; .*toStandardJsonSchema/],
        [z3.object({ id: z3.string() }), /^tool `send-mail`: the `schema` of zod has no JSON schema; .*zod 4/],
    ]) {
        assert.throws(tools(schema), (error) => error instanceof TypeError && why.test(error.message), String(why));
    }
});

test("a schema of zod 3 is used by what converts it, and by its own validation in the tool", async () => {
    const schema = z3.object({ id: z3.number().int() });
    const json = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    const tools = new ilo.Tools({ t: { schema: json, execute: (given) => schema.parse(given).id } });
    assert.deepEqual(tools.signatures(), ["t(id: number) -> any"]);
    const outcome = await ilo.build(source({ id: 7 }), { tools }).run({ order: { id: 7 } }, { tools });
    assert.equal(outcome.value, 7);
});
