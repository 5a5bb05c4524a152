//! Names that are given twice.

use super::Diagnostic;
use crate::span::Span;
use core::hash::Hash;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// Up to this number, names are compared one by one.
const FEW: usize = 16;

/// Reports each item that has the name of an earlier one by its index, with the span of that one. Linear.
pub(crate) fn repeated<T, K: Eq + Hash>(
    items: &[T],
    name: impl Fn(&T) -> (K, Span),
    mut report: impl FnMut(usize, &T, Span),
) {
    if items.len() <= FEW {
        for (index, item) in items.iter().enumerate().skip(1) {
            let (found, _) = name(item);
            let before = items.iter().take(index).map(&name).find(|(before, _)| *before == found);
            if let Some((_, before)) = before {
                report(index, item, before);
            }
        }
        return;
    }
    let mut seen: HashMap<K, Span> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let (found, span) = name(item);
        if let Some(before) = seen.insert(found, span) {
            report(index, item, before);
        }
    }
}

/// The diagnostic of something that is given again, after `before`.
pub(crate) fn twice(code: Code, again: Span, what: &str, before: Span) -> Diagnostic {
    Diagnostic::new(code, again, format!("{what} is given twice"))
        .related(before, "it is given here first")
        .help("leave one of them out, or rename it")
}
