// The smoke test on Node, Deno and Bun, which find the package by its name.
import * as ilo from "ilo-vm";
import * as guide from "ilo-vm/guide";
import * as vm from "ilo-vm/vm";
import { smoke } from "./smoke.js";

console.log(await smoke(ilo, guide, vm));
