#!/usr/bin/env node
// The command `ilo-vm`.

import { start } from "./start.js";

start("ilo-vm");
