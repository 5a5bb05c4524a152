/** `ilo-vm/vm` on Node, Bun and Deno: the module is read when it is first used. */

import { readFileSync } from "node:fs";
import { core } from "./core.js";

core.provide(() => new WebAssembly.Module(readFileSync(new URL("../vm.wasm", import.meta.url))));

export * from "./index.js";
