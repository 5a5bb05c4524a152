//! Diagnostics as data: the fault of a source, its place, and the correction.
//!
//! A diagnostic has no file name and no layout: rendering for a terminal, rendering as JSON and applying
//! fixes are separate. The module that reports a diagnostic decides its wording; its words for the
//! constructs of a notation come from `dialect::terms`.

pub mod fix;
pub mod json;
mod repeated;
pub(crate) mod whole_source;

pub(crate) use repeated::{repeated, twice};

use crate::sorting::sort_by_key;
use crate::span::Span;
use core::fmt;
use ilo_spec::error::{Code, Severity};
use ilo_spec::limits;

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Whether it is an error here although its code is that of a warning.
    pub raised: bool,
    /// The span to which it points.
    pub span: Span,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// What was expected, if it can be named.
    pub expected: Option<String>,
    /// What was found, if it can be named.
    pub found: Option<String>,
    /// The nearest valid name, if a name is wrong.
    pub nearest: Option<String>,
    /// Related spans, each with its message.
    pub related: Vec<(Span, String)>,
    /// What to write instead, in words.
    pub help: Option<String>,
    /// The fix, if there is exactly one.
    pub fix: Option<Fix>,
    /// Where in the code it was made, for a failing test.
    #[cfg(debug_assertions)]
    pub(crate) made: Made,
}

/// A place in the code. Diagnostics do not differ by it.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) struct Made(pub(crate) &'static core::panic::Location<'static>);

#[cfg(debug_assertions)]
impl PartialEq for Made {
    fn eq(&self, _: &Made) -> bool {
        true
    }
}

/// Edits that correct one diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the edits do, such as "write `3`".
    pub title: String,
    /// The edits. They do not overlap.
    pub edits: Vec<Edit>,
}

/// The replacement of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The span that is replaced; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    pub(crate) fn new(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    pub(crate) fn insert(at: u32, text: impl Into<String>) -> Edit {
        Edit::new(Span::at(at), text)
    }
}

impl Fix {
    /// A fix of one edit, titled "write" and the new text.
    pub(crate) fn write(form: &str, span: Span, text: impl Into<String>) -> Fix {
        Fix::writes(form, vec![Edit::new(span, text)])
    }

    /// A fix of several edits, titled "write" and `form`, the text that the edits produce.
    pub(crate) fn writes(form: &str, edits: Vec<Edit>) -> Fix {
        Fix { title: format!("write `{form}`"), edits }
    }
}

impl Diagnostic {
    /// A diagnostic with a code, a span and a message.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            raised: false,
            span,
            message: message.into(),
            expected: None,
            found: None,
            nearest: None,
            related: Vec::new(),
            help: None,
            fix: None,
            #[cfg(debug_assertions)]
            made: Made(core::panic::Location::caller()),
        }
    }

    /// The same as an error, if that is wanted.
    #[must_use]
    pub fn raised_if(self, raised: bool) -> Diagnostic {
        Diagnostic { raised, ..self }
    }

    /// Adds the expected text and the one that was found.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>, found: impl Into<String>) -> Diagnostic {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// Adds the nearest valid name, if there is one.
    #[must_use]
    pub fn nearest(mut self, nearest: Option<&str>) -> Diagnostic {
        self.nearest = nearest.map(str::to_owned);
        self
    }

    /// Adds a related span.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Diagnostic {
        self.related.push((span, what.into()));
        self
    }

    /// Adds a related span, if there is one.
    pub(crate) fn related_if(self, span: Option<Span>, what: &str) -> Diagnostic {
        span.into_iter().fold(self, |diagnostic, span| diagnostic.related(span, what))
    }

    /// Adds what to write instead, in words.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds the fix that replaces `span` by `text`.
    #[must_use]
    pub fn replace(self, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        let title = match text.trim() {
            "" => "remove this".to_owned(),
            text if span.start == span.end => format!("insert `{text}`"),
            text => format!("write `{text}`"),
        };
        self.fix(Fix { title, edits: vec![Edit { span, text }] })
    }

    /// Adds the fix, if there is one.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<Fix>>) -> Diagnostic {
        self.fix = fix.into().or(self.fix);
        self
    }

    /// Adds the fix; without one, adds in words what to write.
    #[must_use]
    pub(crate) fn fix_or_help(self, fix: Option<Fix>, help: impl Into<String>) -> Diagnostic {
        match fix {
            Some(fix) => self.fix(fix),
            None => self.help(help),
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.raised || self.code.severity() == Severity::Error
    }
}

/// The diagnostic on one line, without its position: `error[unknown-tool]: no tool or function is named …`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        write!(f, "{severity}[{}]: {}", self.code.as_str(), self.message)?;
        if let (Some(expected), Some(found)) = (&self.expected, &self.found) {
            write!(f, "; expected {expected}, found {found}")?;
        }
        match (&self.fix, &self.help, &self.nearest) {
            (Some(fix), _, _) => write!(f, "; {}", fix.title),
            (None, Some(help), _) => write!(f, "; {help}"),
            (None, None, Some(nearest)) => write!(f, "; nearest is `{nearest}`"),
            (None, None, None) => Ok(()),
        }
    }
}

impl core::error::Error for Diagnostic {}

/// The diagnostics of one source, in the order in which they were found. Their number is limited.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    dropped: usize,
}

/// A line for each.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.list.iter().enumerate() {
            write!(f, "{}{diagnostic}", if at > 0 { "\n" } else { "" })?;
        }
        if self.dropped > 0 {
            write!(f, "\nand {} more", self.dropped)?;
        }
        Ok(())
    }
}

impl core::error::Error for Diagnostics {}

impl Diagnostics {
    /// Adds a diagnostic; beyond [`limits::DIAGNOSTICS`] it is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.is_error());
        if self.is_full() {
            self.dropped += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// Adds a diagnostic that is built only if it is kept.
    pub fn push_with(&mut self, code: Code, make: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.errors += usize::from(code.severity() == Severity::Error);
            self.dropped += 1;
        } else {
            self.push(make());
        }
    }

    /// Adds all diagnostics of another list.
    #[inline]
    pub fn append(&mut self, other: Diagnostics) {
        if !other.list.is_empty() || other.dropped > 0 {
            self.append_some(other);
        }
    }

    fn append_some(&mut self, other: Diagnostics) {
        let kept = other.list.iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.errors += other.errors.saturating_sub(kept);
        self.dropped += other.dropped;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Whether further diagnostics would only be counted.
    pub fn is_full(&self) -> bool {
        self.list.len() >= limits::DIAGNOSTICS
    }

    /// The current state, for [`Diagnostics::rewind`].
    pub fn mark(&self) -> Mark {
        Mark { kept: self.list.len(), errors: self.errors, dropped: self.dropped }
    }

    /// Removes the diagnostics that were added since the mark, for a reader that reads something again in
    /// another way.
    pub fn rewind(&mut self, mark: Mark) {
        self.list.truncate(mark.kept);
        self.errors = mark.errors;
        self.dropped = mark.dropped;
    }

    /// Whether an error was added since the mark.
    pub fn has_errors_since(&self, mark: Mark) -> bool {
        self.errors > mark.errors
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The number of diagnostics that were only counted.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The diagnostics that were kept.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }

    /// The diagnostics that were kept, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Makes errors of these warnings.
    pub fn raise(&mut self, which: impl Fn(&Diagnostic) -> bool) {
        for warning in self.list.iter_mut().filter(|found| !found.is_error() && which(found)) {
            warning.raised = true;
            self.errors += 1;
        }
    }

    /// Turns the warnings that begin in a span into diagnostics with another code.
    pub fn escalate(&mut self, place: Span, code: Code) {
        let inside = |found: &&mut Diagnostic| {
            !found.is_error() && (place.start..place.end).contains(&found.span.start)
        };
        for warning in self.list.iter_mut().filter(inside) {
            warning.code = code;
            self.errors += usize::from(warning.is_error());
        }
    }

    /// Sorts the diagnostics by position, with errors before warnings at the same position. Duplicates are
    /// removed: a part of a source may be read as two expressions.
    pub fn sort(&mut self) {
        sort_by_key(&mut self.list, |d| (d.span, !d.is_error(), d.code));
        let errors = &mut self.errors;
        self.list.dedup_by(|next, kept| {
            let same = (next.code, next.span) == (kept.code, kept.span) && next.message == kept.message;
            *errors -= usize::from(same && next.is_error());
            same
        });
    }
}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = core::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A saved state of [`Diagnostics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    kept: usize,
    errors: usize,
    dropped: usize,
}
