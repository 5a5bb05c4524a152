// The npm package `ilo`, in one place: what the page uses of it.

import { Crash, init } from "../../bindings/js/dist/index.js";

export * from "../../bindings/js/dist/index.js";

/** Gives the package its module: once, before anything else. */
export const begin = (module: WebAssembly.Module): Promise<void> => init(module);

/** Whether the module failed in itself. */
export const isTrap = (error: unknown): boolean => error instanceof Crash;
