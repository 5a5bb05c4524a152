// The smoke test on workerd.
import * as ilo from "../../dist/workerd.js";
import { smoke } from "./smoke.js";

export default {
    async fetch() {
        return new Response(await smoke(ilo).catch((error) => String(error.stack)));
    },
};
