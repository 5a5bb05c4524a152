// The parts of the npm package `ilo` that the page uses, in one place.

import { Crash, init } from "../../bindings/js/dist/index.js";

export * from "../../bindings/js/dist/index.js";

/** Gives the module to the package. Called once, before anything else. */
export const begin = (module: WebAssembly.Module): Promise<void> => init(module);

/** Whether an error is a failure of the module itself. */
export const isTrap = (error: unknown): boolean => error instanceof Crash;
