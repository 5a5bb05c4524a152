/**
 * Code of a host that uses no library of a later ECMAScript, checked with the declarations of this package and of zod;
 * it is type-checked and never run.
 */

import * as ilo from "ilo-vm";
import { z } from "zod";

const find = ilo.tool({
    schema: z.object({ id: z.number(), deep: z.boolean().default(false) }),
    outputSchema: z.object({ email: z.string() }),
    readOnly: true,
    execute: async ({ id, deep }, { signal, context }) => {
        const exact: number = id;
        const whole: boolean = deep;
        // @ts-expect-error: the schema says that it is a number.
        const wrong: string = id;
        return { email: `${exact}${whole}${wrong}${signal.aborted}${context}@example.org` };
    },
});

// @ts-expect-error: the answer has no email.
ilo.tool({ schema: z.object({ id: z.number() }), outputSchema: z.object({ email: z.string() }), execute: ({ id }) => ({ id }) });

interface Order {
    id: number;
    note?: string;
}

export async function run(source: string, order: Order): Promise<string> {
    const tools = new ilo.Tools({ find, plain: { execute: (input) => input.anything } });
    const program = ilo.build(source, { tools, signature: "email(id: number) -> result text, text", strict: true });
    const stream = program.stream(order, { tools, toolCallId: "call_1", maxConcurrency: 4, context: { user: "ada" } });
    for await (const event of stream) {
        if (event.type === "start") console.log(event.tool, event.line ?? 0, event.number ?? 0);
        else if (event.type === "end") console.log(event.duration, event.ok, event.value, event.error);
        else console.log(event.count);
    }
    const outcome: ilo.Outcome<string> = await program.run<string>(order, {
        tools,
        onEvent: (event: ilo.RunEvent) => console.log(event.type),
        onCall: (call: ilo.CallResult) => console.log(call.seq),
    });
    if (outcome.status === "ok") return outcome.value.toUpperCase();
    if (outcome.status === "fault") return outcome.code === "timed-out" ? "late" : outcome.code;
    const named: ilo.Tool | undefined = tools.get("find");
    return named?.name ?? "none";
}

// @ts-expect-error: that is no part of the package.
export const inside = ilo.errorOf;
