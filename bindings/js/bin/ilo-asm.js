#!/usr/bin/env node
// The command `ilo-asm`.

import { start } from "./start.js";

start("ilo-asm");
