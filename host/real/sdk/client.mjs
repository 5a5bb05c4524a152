// Calls `ilo-vm serve` with the TypeScript SDK: client.mjs TARGET, a URL or the command line of the server.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const SEND = "; fn f() -> text\n; Tools: 0=send\nRET CALL 0 0\n";
const FAIL = "; fn f() -> number\nRET REF 7\n";

const target = process.argv[2];
const [command, ...args] = target.split(" ");
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command, args });
const client = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { call_it: true } };
});
await client.connect(transport);

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["run_program", "check_program", "find_tools", "total"]);
const { resources } = await client.listResources();
const card = await client.readResource({ uri: resources[0].uri });
assert.match(card.contents[0].text, /price/);

const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
let result = await call("total", { items: [1, 2, 3] });
assert.deepEqual(result.structuredContent, { result: 12 });
result = await call("total", { items: "no list" });
assert.ok(result.isError && result.structuredContent === undefined);
result = await call("find_tools", { query: "price" });
assert.equal(result.structuredContent.tools[0].name, "price");
result = await call("check_program", { source: FAIL });
assert.equal(result.structuredContent.diagnostics[0].code, "unset-slot");
result = await call("run_program", { source: FAIL });
assert.ok(result.isError && result.structuredContent.diagnostics.length > 0);

const seen = [];
const onprogress = (progress) => seen.push([progress.progress, progress.message]);
result = await call("run_program", { source: SEND }, { onprogress });
assert.deepEqual(result.structuredContent.outcome, { status: "ok", value: "sent" });
assert.equal(asked.length, 1);
assert.deepEqual(seen, [[1, "send"]]);

await client.close();
