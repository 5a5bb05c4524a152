// An agent whose model is scripted, so that it runs without a key: it errs, reads the diagnostics, and fixes.
//
// Replace `scriptedModel` by a call of a real model, which gets the messages so far and returns the next text.
import * as ilo from "ilo-vm";
import { z } from "zod";

const tools = new ilo.Tools({
    find_orders: {
        description: "The open orders of a customer.",
        schema: z.object({ customer: z.string() }),
        outputSchema: z.array(z.object({ id: z.number(), total: z.number() })),
        readOnly: true,
        execute: async () => [{ id: 1, total: 40 }, { id: 2, total: 2.5 }],
    },
    send_invoice: {
        description: "Sends an invoice, and gives its number.",
        schema: z.object({ customer: z.string(), amount: z.number() }),
        outputSchema: z.string(),
        execute: async ({ customer, amount }) => `${customer}-${amount.toFixed(2)}`,
    },
});
// Attempts at one program. A model that needs more rarely succeeds.
const ATTEMPTS = 4;

const program = (tool) => `{"function": "invoice", "input": {"customer": "text"}, "output": "text", "steps": [
{"let": "orders", "call": "${tool}", "args": {"customer": "$input.customer"}},
{"let": "total", "expr": 0},
{"for": "order", "in": "$orders", "do": [{"let": "total", "expr": {"+": ["$total", "$order.total"]}}]},
{"let": "number", "call": "send_invoice", "args": {"customer": "$input.customer", "amount": "$total"}},
{"return": "$number"}]}`;

/** Misspells a tool at first. Once it has read the right name, it writes that. */
function scriptedModel(messages) {
    const last = messages.filter(({ role }) => role === "user").at(-1);
    return program(last.content.includes("`find_orders`") ? "find_orders" : "find_order");
}

/** Lets the model write a program for a task and runs it. Returns the outcome and the number of attempts. */
async function runAgent(model, task, inputs) {
    const messages = [
        { role: "system", content: ilo.card("tool-calling", { tools }) },
        { role: "user", content: task },
    ];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const source = await model(messages);
        messages.push({ role: "assistant", content: source });
        let built;
        try {
            built = ilo.build(source, { tools });
        } catch (error) {
            if (!(error instanceof ilo.CompileError)) throw error;
            messages.push({ role: "user", content: `${error.message}\nWrite the whole program again.` });
            continue;
        }
        return [await built.run(inputs, { timeout: 60_000 }), attempt];
    }
    throw new Error(`the model wrote no valid program in ${ATTEMPTS} attempts`);
}

const task = "Send the customer one invoice for all open orders.";
const [outcome, attempts] = await runAgent(scriptedModel, task, { customer: "Ada" });
console.log(`${outcome.status}: ${outcome.value} after ${attempts} attempts`);
