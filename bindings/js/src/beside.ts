/** Reads a module from beside the JavaScript of the package. A bundler may have moved one without the other. */

import { readFileSync } from "node:fs";
import { IloError } from "./errors.js";
import { textOf } from "./json.js";

/** The folder of a bundle in CommonJS, where `import.meta` has no address. */
declare const __dirname: string | undefined;

/** Reads the module at an address, or else from beside a bundle. */
export function beside(file: string, address: () => URL): WebAssembly.Module {
    const read = (from: URL | string): WebAssembly.Module => new WebAssembly.Module(readFileSync(from));
    try {
        return read(address());
    } catch (error) {
        try {
            if (typeof __dirname === "string") return read(`${__dirname}/${file}`);
        } catch {
            // The first error says more.
        }
        throw new IloError(
            `\`${file}\` is not where this package expects it, which a bundler may have left out: import \`ilo-vm/inline\` ` +
                `in place of \`ilo-vm\`, or copy \`node_modules/ilo-vm/dist/${file}\` beside the bundle (${textOf(error)})`,
            { cause: error },
        );
    }
}
