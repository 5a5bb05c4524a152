// The whole path: a source, its errors, a program, runs over tools and step by step.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as ilo from "ilo-vm";

const notify = readFileSync(new URL("../../../examples/notify.ilo", import.meta.url), "utf8");
const inputs = { "user-id": "7", message: "hi" };
const user = { email: "ada@example.org", verified: true };

function tools(sent = []) {
    return {
        "get-user": { readOnly: true, execute: () => user },
        "send-email": { execute: async (mail) => void sent.push(mail) },
    };
}

test("a program runs over tools", async () => {
    const sent = [];
    const made = [];
    const outcome = await ilo.build(notify).run(inputs, { tools: tools(sent), onCall: (call) => made.push(call) });
    assert.equal(outcome.status, "ok");
    assert.equal(outcome.value, null);
    assert.ok(outcome.fuel > 0);
    assert.deepEqual(sent, [{ email: user.email, subject: "Notification", body: "hi" }]);
    assert.deepEqual(made.map(({ seq, tool, ok }) => [seq, tool, ok]), [
        [0, "get-user", true],
        [1, "send-email", true],
    ]);
});

test("a run step by step, through a snapshot", () => {
    const program = ilo.build(notify);
    let run = program.start(inputs);
    const first = run.step();
    assert.equal(first.status, "call");
    assert.equal(first.tool, "get-user");
    assert.deepEqual(first.arguments, { "user-id": "7" });
    assert.equal(first.line > 0 && first.column > 0, true);
    assert.deepEqual(run.waiting, first);
    const snapshot = run.snapshot();
    run.dispose();
    assert.throws(() => run.step(), ilo.NotWaiting);
    run = ilo.load(program.toBytes()).restore(snapshot);
    run.answer(user);
    assert.equal(run.step().tool, "send-email");
    run.fail("no mail today");
    const outcome = run.step();
    assert.equal(outcome.status, "err");
    assert.equal(outcome.error, "Send failed: no mail today");
    assert.equal(outcome.fuel, run.fuel);
    run.dispose();
});

test("sources are checked, fixed, converted, laid out and drawn", () => {
    const source = `{"function": "email", "input": {}, "output": "text", "steps": [
        {"let": "user", "call": "get_usr", "args": {"user_id": 7}}, {"return": "$user.email"}]}`;
    const schema = { type: "object", properties: { user_id: { type: "integer" } }, required: ["user_id"] };
    const known = new ilo.Tools({ get_user: { schema, execute: () => user } });
    const [found] = ilo.check(source, { tools: known });
    assert.equal(found.code, "unknown-tool");
    assert.equal(source.slice(found.start, found.end).replaceAll('"', ""), "get_usr");
    assert.throws(() => ilo.build(source, { tools: known }), (error) => {
        assert.ok(error instanceof ilo.CompileError && error instanceof ilo.IloError);
        assert.match(error.message, /^the program has 1 error; .*\n2:\d+: error\[unknown-tool\]: /);
        return true;
    });
    const fixed = ilo.fix(source, { tools: known });
    assert.deepEqual([fixed.fixed, fixed.left], [1, []]);
    const program = ilo.build(fixed.source, { tools: known });
    assert.deepEqual(program.tools, ["get_user"]);
    assert.deepEqual(program.functions, { email: {} });
    assert.equal(program.plan()[0].most, "1");
    assert.equal(program.plan()[0].afterCrash, "doubt");
    assert.match(program.disassemble(), /get_user/);
    assert.equal(ilo.detect(source), "tool-calling");
    const id = ilo.convert(fixed.source, "id");
    assert.match(id, /^; fn email\(\) -> text/);
    assert.equal(ilo.format(id), id);
    assert.match(ilo.graph(id), /^<svg /);
    assert.match(ilo.card("id", { tools: known }), /get_user/);
    assert.match(ilo.explain("unknown-tool"), /tool/);
    assert.throws(() => ilo.explain("unknown-tol"), /did you mean `unknown-tool`/);
});

test("an editor gets what a word means and what may be written, at indexes of JavaScript texts", () => {
    const known = new ilo.Tools({
        get_user: { description: "Looks up a user.", schema: { type: "object", properties: { id: { type: "string" } } }, execute: () => null },
    });
    // A character beyond the first 65,536 takes two units.
    const source = '; fn f() -> any\n; Tools: 0=get_user\nLET 0 LIT 0 "\u{1f600}\u{1f600}"\nRET CALL 0 0';
    const at = source.indexOf("CALL 0") + 5;
    const found = ilo.hover(source, at, { tools: known });
    assert.deepEqual([found.start, found.end], [at, at + 1]);
    assert.match(found.text, /get_user\(id\?: text\)[^]*Looks up a user\./);
    assert.equal(ilo.hover("", 0), undefined);
    assert.equal(ilo.hover(source, 1e6), ilo.hover(source, source.length));

    const begun = source.slice(0, source.indexOf("CALL"));
    const offered = ilo.complete(begun, begun.length, { tools: known });
    const call = offered.find((one) => one.text.startsWith("CALL"));
    assert.deepEqual([call.kind, call.start, call.end], ["word", begun.length, begun.length]);
    const document = '{"function": "f", "output": "any", "steps": [{"let": "u", "call": "get", "args": {}}]}';
    const tools = ilo.complete(document, document.indexOf('get"') + 3, { tools: known });
    assert.deepEqual(tools.map((one) => [one.kind, one.text]), [["tool", "get_user"]]);
    assert.throws(() => ilo.complete(document, 0, { notation: "html" }), RangeError);
});
