/** What the tests of this package use beside what it exports. No part of its interface. */

export * from "./index.js";

export { core } from "./core.js";
