// An MCP server of the TypeScript SDK, to compare `ilo-vm serve` with: one tool that adds two numbers.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

function server() {
  const server = new McpServer({ name: "typescript", version: "1" });
  server.registerTool(
    "add",
    { description: "adds two numbers", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { result: z.number() } },
    async ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
      structuredContent: { result: a + b },
    }),
  );
  return server;
}

if (process.argv[2] === "stdio") {
  await server().connect(new StdioServerTransport());
} else {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    let transport = transports.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => transports.set(id, transport),
      });
      await server().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.error(`serving http://127.0.0.1:${http.address().port}/mcp`));
}
