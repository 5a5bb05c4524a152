// What the console shows of the objects of this package.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import * as ilo from "ilo-vm";

test("the console shows what a program, a run and tools are, and nothing of their inside", async () => {
    const secret = "hunter-2-secret";
    const tools = new ilo.Tools({ send: { description: secret, execute: () => secret } });
    const program = ilo.build("; fn f(to: text) -> any\n; Tools: 0=send\nRET CALL 0 0\n", { tools });
    const run = program.start({ to: secret });
    run.step();
    const flat = (object) => inspect(object, { breakLength: Infinity });
    assert.equal(flat(program), "Program { functions: { f: { to: 'text' } }, tools: [ 'send' ], warnings: [] }");
    assert.match(inspect(run), /^Run \{ disposed: false, fuel: [0-9]+ \}$/);
    assert.equal(inspect(tools), "Tools { names: [ 'send' ] }");
    assert.equal(inspect(await program.run({ to: "x" })).includes("runner"), false);
    for (const object of [program, run, tools]) {
        assert.equal(inspect(object, { depth: null, showHidden: true }).includes(secret), false);
        object.dispose();
        assert.match(inspect(object), /^(Program|Run|Tools) \{/);
    }
    assert.equal(inspect(run), "Run { disposed: true }");
});
