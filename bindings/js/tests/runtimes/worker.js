// The smoke test on workerd.
import * as guide from "../../dist/guide/workerd.js";
import * as ilo from "../../dist/workerd.js";
import * as vm from "../../dist/vm/workerd.js";
import { smoke } from "./smoke.js";

export default {
    async fetch() {
        return new Response(await smoke(ilo, guide, vm).catch((error) => String(error.stack)));
    },
};
