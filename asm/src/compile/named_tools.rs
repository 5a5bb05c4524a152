//! Finds the tools that a source names, before the check, so that a host can load only the schemas that it
//! needs.

use crate::arena::Arena;
use crate::catalog::own_function;
use crate::compile::{Options, read, text};
use crate::diagnostic::Diagnostics;
use std::collections::BTreeSet;

/// The names of the tools that a source calls, as far as it can be read. Its own functions are not included.
pub fn called(source: &[u8], options: &Options<'_>) -> BTreeSet<String> {
    let Ok(source) = text(source) else { return BTreeSet::new() };
    let arena = Arena::new();
    let file = read(source, &arena, options, &mut Diagnostics::default());
    // A function of the file, or one that should exist.
    let is_own = |name: &str| {
        own_function(name).is_some() || file.functions.iter().any(|function| function.name.text == name)
    };
    let mut found = BTreeSet::new();
    for function in file.functions {
        function.body.each_call(&mut |call| {
            found.insert(call.tool.text);
        });
    }
    found.into_iter().filter(|name| !is_own(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::called;
    use crate::compile::Options;

    #[test]
    fn own_functions_are_no_tools_and_errors_hide_nothing() {
        let source = "; fn a() -> result nil, text\n; Tools: 0=b 1=fetch 2=undo-it\nLET 0 CALL 1 0\n\
            IF EQ REF 0 LIT 1 1 1\n  UNDO CALL 2 0\nCALL 0 0\nRET_OK REF 7\n\n\
            ; fn b() -> nil\n; Tools: 0=store\nRET CALL 0 0\n";
        let names = called(source.as_bytes(), &Options::default());
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["fetch", "store", "undo-it"]);
    }
}
