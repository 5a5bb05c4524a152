/** Tools of an MCP server, over a client of the package `@modelcontextprotocol/sdk`. */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Failure, Tools, type ToolDefinition, type Value } from "ilo-vm";
import { NAMES, TEXT, checkOptions } from "./given.js";

export interface McpOptions {
    /** With it, a tool `send` has the name `mcp://SERVER/send`, and programs may also write `send`. */
    server?: string;
    /** Tools that change nothing. A server's own hints are not trusted. */
    readOnly?: readonly string[];
    /** Tools whose calls need a person's approval. */
    confirm?: readonly string[];
}

/** The most pages of a list of tools. A server that sends more would never end. */
const PAGES = 1000;

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

/** The tools of the server of a connected client. */
export async function toolsFromMcp(client: Client, options: McpOptions = {}): Promise<Tools> {
    checkOptions(options, { server: TEXT, readOnly: NAMES, confirm: NAMES });
    const listed = await list(client);
    const names = listed.map((one) => one.name);
    for (const option of ["readOnly", "confirm"] as const) {
        const missing = (options[option] ?? []).filter((name) => !names.includes(name));
        if (missing.length) throw new RangeError(`${option}: the server has no tool ${missing.join(", ")}`);
    }
    const all = listed.map((one): [string, ToolDefinition] => {
        const name = options.server === undefined ? one.name : `mcp://${options.server}/${one.name}`;
        return [name, definition(client, one, options)];
    });
    return new Tools(Object.fromEntries(all));
}

async function list(client: Client): Promise<Listed[]> {
    const found: Listed[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page++) {
        const got = await client.listTools(cursor === undefined ? {} : { cursor });
        found.push(...got.tools);
        cursor = got.nextCursor;
        if (!cursor) return found;
    }
    throw new RangeError(`the MCP server's list of tools has more than ${PAGES} pages`);
}

function definition(client: Client, one: Listed, options: McpOptions): ToolDefinition {
    return {
        ...(one.description === undefined ? {} : { description: one.description }),
        schema: one.inputSchema,
        ...(one.outputSchema === undefined ? {} : { outputSchema: one.outputSchema }),
        readOnly: options.readOnly?.includes(one.name) ?? false,
        confirm: options.confirm?.includes(one.name) ?? false,
        async execute(input, { signal }) {
            const result = await client.callTool({ name: one.name, arguments: input }, undefined, { signal });
            return answer(result as Result);
        },
    };
}

interface Block {
    readonly type: string;
    readonly text?: string;
    readonly data?: string;
    readonly mimeType?: string;
}

interface Result {
    readonly content?: readonly Block[];
    readonly structuredContent?: Value;
    readonly isError?: boolean;
}

/** An answer as a value; a result that is an error is a failure. */
function answer({ content = [], structuredContent, isError }: Result): Value {
    const texts = content.filter((block) => block.type === "text").map((block) => block.text ?? "");
    const text = content.length && texts.length === content.length ? texts.join("\n") : undefined;
    const value = structuredContent ?? text ?? several(content.map(plain));
    if (isError) throw new Failure(text ?? value);
    return value;
}

/** No content is nil, a single item is itself, several are a list. */
function several(items: Value[]): Value {
    return items.length > 1 ? items : (items[0] ?? null);
}

/** Binary content becomes a record of its type and size. */
function plain(block: Block): Value {
    if (block.type === "text") return block.text ?? "";
    if (block.data === undefined) return JSON.parse(JSON.stringify(block));
    const bytes = Math.floor((block.data.length * 3) / 4);
    return { type: block.type, mime_type: block.mimeType ?? "", bytes };
}
