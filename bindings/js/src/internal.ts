/** What the tests of this package use beside what it exports. No part of its interface. */

export * from "./index.js";

export { call, core } from "./core.js";
export * as glue from "./glue.js";
export { WIDE, parse, write } from "./json.js";
