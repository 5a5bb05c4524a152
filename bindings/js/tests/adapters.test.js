// The adapters with the real packages, and models that are scripted: each errs first, reads what is wrong, and corrects
// its program.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Runner, Usage, setTracingDisabled, tool as agentTool } from "@openai/agents";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as ilo from "ilo-vm";
import { runProgram } from "ilo-vm/ai";
import { toolsFromMcp } from "ilo-vm/mcp";
import { runProgram as runProgramOfAgents } from "ilo-vm/openai-agents";
import { z } from "zod";

const program = (name) => `{"function": "greet", "input": {"id": "number"}, "output": "text", "steps": [
    {"let": "user", "call": "${name}", "args": {"id": "$input.id"}}, {"return": "Hello, $user.name"}]}`;
const correct = program("get_user");
const wrong = program("get_usr");
const input = z.object({ id: z.number().int() });
const answer = ({ id }) => ({ name: `Ada ${id}` });

// The model's message after this number of results: a program with an error, the corrected one, and the end.
function script(results) {
    if (results.length === 0) return { source: wrong, input: { id: 7 } };
    if (results.length === 1) {
        assert.match(results[0], /error\[unknown-tool\].*`get_user`/);
        return { source: correct, input: { id: 7 } };
    }
    assert.deepEqual(JSON.parse(results[1]).value, "Hello, Ada 7");
    return undefined;
}

test("ai: a model reads the errors and corrects its program", async () => {
    const results = (prompt) =>
        prompt.flatMap(({ role, content }) => (role === "tool" ? content : [])).map(({ output }) => output.value);
    const model = new MockLanguageModelV3({
        async doGenerate({ prompt, tools }) {
            assert.deepEqual(tools.map(({ name }) => name), ["run_program"]);
            assert.match(tools[0].description, /get_user/);
            const said = script(results(prompt));
            const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
            const call = { type: "tool-call", toolCallId: "1", toolName: "run_program", input: JSON.stringify(said ?? {}) };
            return {
                content: said ? [call] : [{ type: "text", text: "done" }],
                finishReason: { unified: said ? "tool-calls" : "stop", raw: undefined },
                usage,
                warnings: [],
            };
        },
    });
    const seen = [];
    const getUser = tool({
        description: "Looks a user up.",
        inputSchema: input,
        execute: (given, { toolCallId, abortSignal }) => {
            seen.push([given, toolCallId, abortSignal instanceof AbortSignal]);
            return answer(given);
        },
    });
    const runs = await runProgram({ get_user: getUser }, { readOnly: ["get_user"] });
    const found = await generateText({
        model,
        prompt: "Greet user 7.",
        tools: { run_program: runs },
        stopWhen: stepCountIs(5),
    });
    assert.equal(found.text, "done");
    assert.deepEqual(seen, [[{ id: 7 }, "1", true]]);
});

test("@openai/agents: a model reads the errors and corrects its program", async () => {
    setTracingDisabled(true);
    const model = {
        async getResponse({ input, tools }) {
            assert.deepEqual(tools.map(({ name }) => name), ["run_program"]);
            const all = typeof input === "string" ? [] : input.filter(({ type }) => type === "function_call_result");
            const said = script(all.map(({ output }) => (typeof output === "string" ? output : output.text)));
            const call = { type: "function_call", callId: `c${all.length}`, name: "run_program", arguments: JSON.stringify(said ?? {}) };
            const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
            return { usage: new Usage(), output: [said ? { ...call, status: "completed" } : text] };
        },
        getStreamedResponse() {
            throw new Error("not streamed");
        },
    };
    const getUser = agentTool({
        name: "get_user",
        description: "Looks a user up.",
        parameters: input,
        execute: async (given) => answer(given),
    });
    const agent = new Agent({ name: "greeter", instructions: "", model, tools: [runProgramOfAgents([getUser])] });
    const found = await new Runner({ tracingDisabled: true }).run(agent, "Greet user 7.");
    assert.equal(found.finalOutput, "done");
});

test("MCP: the tools of a server are tools of a program", async () => {
    const server = new McpServer({ name: "crm", version: "1" });
    server.registerTool(
        "get_user",
        { description: "Looks a user up.", inputSchema: { id: z.number().int() }, outputSchema: { name: z.string() } },
        async (given) => ({ content: [], structuredContent: answer(given) }),
    );
    server.registerTool("say", { inputSchema: { text: z.string() } }, async ({ text }) => ({ content: [{ type: "text", text }] }));
    server.registerTool("fails", { inputSchema: {} }, async () => ({ isError: true, content: [{ type: "text", text: "no" }] }));
    server.registerTool("draw", { inputSchema: {} }, async () => ({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }));
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "test", version: "1" });
    await Promise.all([server.connect(theirs), client.connect(ours)]);
    try {
        await assert.rejects(toolsFromMcp(client, { readOnly: ["get_usr"] }), /the server has no tool get_usr/);
        const tools = await toolsFromMcp(client, { server: "crm", readOnly: ["get_user"] });
        assert.deepEqual([...tools].sort(), ["draw", "fails", "get_user", "say"].map((name) => `mcp://crm/${name}`));
        assert.throws(() => ilo.build(wrong, { tools }), ilo.CompileError);
        const outcome = await ilo.build(correct, { tools }).run({ id: 7 });
        assert.equal(outcome.value, "Hello, Ada 7");
        const one = (name, args) => ilo.build(
            `{"function": "f", "input": {}, "output": "result any, any", "steps": [
                {"let": "x", "call": "${name}", "args": ${args}}, {"return": {"ok": "$x"}}]}`, { tools }).run();
        assert.equal((await one("say", '{"text": "hi"}')).value, "hi");
        assert.equal((await one("fails", "{}")).error, "no");
        assert.deepEqual((await one("draw", "{}")).value, { type: "image", mime_type: "image/png", bytes: 3 });
    } finally {
        await client.close();
    }
});

test("a schema of Standard Schema is a signature, and validates", async () => {
    const tools = new ilo.Tools({
        get_user: { schema: input.refine(({ id }) => id !== 9, "nine is nobody"), outputSchema: z.object({ name: z.string() }), execute: answer },
    });
    assert.match(tools.signatures()[0], /id/);
    assert.throws(() => ilo.build(correct.replace('"id": "$input.id"', '"ids": 1'), { tools }), ilo.CompileError);
    const built = ilo.build(correct, { tools });
    assert.equal((await built.run({ id: 7 })).value, "Hello, Ada 7");
    const nine = await built.run({ id: 9 });
    assert.match(nine.error ?? nine.message, /nine is nobody/);
});

test("the check of an adapter is strict unless told otherwise, and events have the identity of the SDK's call", async () => {
    const source = "; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n";
    const tools = { get_user: tool({ inputSchema: input, execute: answer }) };
    const around = { toolCallId: "call_1", messages: [] };
    const ask = async (options, given) => (await runProgram(tools, options)).execute(given, around);
    assert.match(await ask({}, { source, input: { c: "1" } }), /error\[never-equal\]/);
    const found = JSON.parse(await ask({ strict: false }, { source, input: { c: "1" } }));
    assert.equal(found.value, false);
    assert.match(found.warnings[0], /warning\[never-equal\]/);
    const events = [];
    await ask({ onEvent: (event) => events.push(event.toolCallId) }, { source: correct, input: { id: 7 } });
    assert.deepEqual(events, ["call_1", "call_1"]);
});
