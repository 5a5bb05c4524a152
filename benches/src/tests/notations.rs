//! The measured sources in JSON and YAML are whole programs: each assembles without an error.

use crate::notations::{CONSTRAINED, MCP, TOOL_CALLING, WORKFLOW, source};
use ilo_asm::compile::{Options, compile};

#[test]
fn large_sources_assemble() {
    for notation in [TOOL_CALLING, CONSTRAINED, MCP, WORKFLOW] {
        let text = source(&notation, 10_000);
        let (program, diagnostics) = compile(&text, &Options::default());
        let functions = program.map_or(0, |program| program.functions.len());
        assert!(functions > 5, "{}: {:?}", notation.item, diagnostics.as_slice());
    }
}
