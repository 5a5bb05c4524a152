// Calls `ilo-vm serve` with the SDKs for TypeScript: client.mjs WHICH TARGET, where WHICH is `1.x`, the older SDK, or
// a version of the protocol for the newer one (`legacy`, `2026-07-28`), and TARGET a URL or the command line of the server.
import assert from "node:assert/strict";

const SEND = "; fn f() -> text\n; Tools: 0=send\nRET CALL 0 0\n";
const FAIL = "; fn f() -> number\nRET REF 7\n";

const [which, target] = process.argv.slice(2);
const isOlder = which === "1.x";
const modules = isOlder
  ? ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js",
    "@modelcontextprotocol/sdk/client/streamableHttp.js", "@modelcontextprotocol/sdk/types.js"]
  : ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"];
const sdk = Object.assign({}, ...await Promise.all(modules.map((name) => import(name))));

const [command, ...args] = target.split(" ");
const transport = target.startsWith("http")
  ? new sdk.StreamableHTTPClientTransport(new URL(target))
  : new sdk.StdioClientTransport({ command, args });
const mode = which === "legacy" ? "legacy" : { pin: which };
const options = { capabilities: { elicitation: { form: {} } }, ...(isOlder ? {} : { versionNegotiation: { mode } }) };
const client = new sdk.Client({ name: "client", version: "1" }, options);
const asked = [];
client.setRequestHandler(isOlder ? sdk.ElicitRequestSchema : "elicitation/create", (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { call_it: true } };
});
await client.connect(transport);

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["run_program", "check_program", "find_tools", "total"]);
const { resources } = await client.listResources();
const card = await client.readResource({ uri: resources[0].uri });
assert.match(card.contents[0].text, /price/);

const call = (name, args, options) => client.callTool({ name, arguments: args }, ...(isOlder ? [undefined, options] : [options]));
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
// Both SDKs lose progress that they read together with the answer, so `send` takes a while (`tools.json`). The newer one
// asks for no progress when it repeats a call.
if (isOlder) assert.deepEqual(seen, [[1, "send"]]);

await client.close();
