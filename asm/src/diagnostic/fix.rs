//! Applies fixes to a source.

use super::{Diagnostic, Edit};

/// Applies the fixes of `diagnostics` to their source, except those that overlap an earlier one. Returns the
/// new source and the number of applied fixes. Diagnostics whose fix was not applied are found again in the
/// new source.
pub fn apply(source: &str, diagnostics: &[Diagnostic]) -> (String, usize) {
    // By position; an insertion comes before a replacement at the same position.
    let place = |edit: &Edit| (edit.span.start, edit.span.end);
    let mut accepted: Vec<&Edit> = Vec::new();
    let mut applied = 0;
    for fix in diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()) {
        let fits = |edit: &Edit| {
            let (start, end) = place(edit);
            let valid = start <= end && source.get(edit.span.range()).is_some();
            let split = accepted.partition_point(|other| place(other) < (start, end));
            let (before, after) = accepted.split_at(split);
            let free_before = before.last().is_none_or(|before| before.span.end <= start);
            let free_after = after.first().is_none_or(|it| end <= it.span.start && place(it) != (start, end));
            valid && free_before && free_after
        };
        if fix.edits.is_empty() || !fix.edits.iter().all(fits) {
            continue;
        }
        applied += 1;
        for edit in &fix.edits {
            match accepted.binary_search_by_key(&place(edit), |other| place(other)) {
                Ok(at) => accepted[at] = edit,
                Err(at) => accepted.insert(at, edit),
            }
        }
    }
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for edit in accepted {
        out.push_str(source.get(at..edit.span.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(source.get(at..).unwrap_or(""));
    (out, applied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;
    use ilo_spec::error::Code;

    fn fix(start: u32, end: u32, text: &str) -> Diagnostic {
        Diagnostic::new(Code::BadNumber, Span::new(start, end), "").replace(Span::new(start, end), text)
    }

    #[test]
    fn neighbours_are_applied_and_overlaps_left_out() {
        let all = |fixes: &[Diagnostic]| apply("abcdef", fixes);
        assert_eq!(all(&[]), ("abcdef".to_owned(), 0));
        assert_eq!(all(&[fix(4, 5, "E"), fix(0, 1, "A")]), ("AbcdEf".to_owned(), 2));
        assert_eq!(all(&[fix(2, 4, "X"), fix(3, 5, "Y")]), ("abXef".to_owned(), 1));
        assert_eq!(all(&[fix(3, 5, "Y"), fix(2, 4, "X")]), ("abcYf".to_owned(), 1));
        assert_eq!(all(&[fix(2, 4, "X"), fix(2, 2, "<"), fix(4, 4, ">")]), ("ab<X>ef".to_owned(), 3));
        assert_eq!(all(&[fix(2, 4, "X"), fix(3, 3, "no")]), ("abXef".to_owned(), 1));
        assert_eq!(all(&[fix(2, 2, "1"), fix(2, 2, "2")]), ("ab1cdef".to_owned(), 1));
        assert_eq!(all(&[fix(6, 6, "!"), fix(6, 7, "no"), fix(9, 2, "no")]), ("abcdef!".to_owned(), 1));
    }
}
