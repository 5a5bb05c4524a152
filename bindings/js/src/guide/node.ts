/** `ilo-vm/guide` on Node, Bun and Deno: the module is read when it is first used. */

import { beside } from "../beside.js";
import { core } from "./core.js";

core.provide(() => beside("guide.wasm", () => new URL("../guide.wasm", import.meta.url)));

export * from "./index.js";
