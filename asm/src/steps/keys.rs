//! Records of a program by their keys: which key means what, which is unknown, which comes from a sister notation.
//!
//! What the values are is for those who ask.

use super::keyed::Keyed;
use super::reader::StepReader;
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::{Dialect, Key, Meant, instead};
use crate::document::{Entry, Kind, Node, first_of, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// Reads the keys of a record, of which `keys` may stand there; `what` says what the record is.
    pub(crate) fn keyed<'d>(&mut self, node: &'d Node<'a>, keys: &[Key], what: &str) -> Keyed<'d, 'a> {
        let mut found = Keyed::none(node.span);
        let Kind::Record(entries) = &node.kind else { return found };
        let mut unknown: Vec<&'d Entry<'a>> = Vec::new();
        for entry in *entries {
            let meaning = entry.name().and_then(|name| self.dialect.meaning(name, keys));
            let Some((key, meant)) = meaning else {
                unknown.push(entry);
                continue;
            };
            if let Some(before) = found.put(key, entry) {
                self.said_twice(entry, before, key);
            } else if meant == Meant::Sister {
                self.sister(entry, key);
            }
        }
        for entry in unknown {
            self.unknown_key(entry, keys, what, &mut found);
        }
        found
    }

    fn said_twice(&mut self, entry: &Entry<'a>, before: &Entry<'a>, key: Key) {
        let word = self.dialect.word(key);
        let message = format!("`{}` says again what `{}` says", shown(&entry.key), shown(&before.key));
        self.report(
            Diagnostic::new(Code::DuplicateKey, entry.key.span, message)
                .expected(format!("`{word}` once"), "both")
                .related(before.key.span, "first here")
                .help("leave one of them out"),
        );
    }

    /// Warns of another notation's word, where this one has its own.
    fn sister(&mut self, entry: &Entry<'a>, key: Key) {
        if !self.dialect.has(key) {
            self.inexact = true;
            return;
        }
        let (word, found) = (self.dialect.word(key), shown(&entry.key));
        let message = format!("`{found}` is another notation's word for `{word}`, and read as that");
        self.sister_word(entry.key.span, message, word, &found, rename(&entry.key, word));
    }

    pub(crate) fn sister_word(
        &mut self,
        span: Span,
        message: String,
        word: &str,
        found: &str,
        fix: Option<Fix>,
    ) {
        let mut warning = Diagnostic::new(Code::SisterWord, span, message)
            .expected(format!("`{word}`"), format!("`{found}`"));
        warning.fix = fix;
        self.report(warning);
    }

    /// Reports a key that has no meaning here; what is nearest and free is read in its place.
    fn unknown_key<'d>(&mut self, entry: &'d Entry<'a>, keys: &[Key], what: &str, found: &mut Keyed<'d, 'a>) {
        let name = entry.name();
        let free: Vec<Key> = keys.iter().copied().filter(|&key| !found.has(key)).collect();
        let instead = name.and_then(|name| instead(name, self.dialect));
        let near = name.filter(|_| instead.is_none()).and_then(|name| self.dialect.nearest(name, &free));
        if instead.is_some() {
            entry.value.text().into_iter().for_each(|name| self.scope.lose(name));
        }
        let word = near.map(|key| self.dialect.word(key));
        let wrong = Diagnostic::new(
            Code::UnknownKey,
            entry.key.span,
            format!("`{}` has no meaning in {what}", shown(&entry.key)),
        )
        .expected(some_words(self.dialect, keys), format!("`{}`", shown(&entry.key)))
        .nearest(word);
        self.report(match word.and_then(|word| rename(&entry.key, word)) {
            Some(fix) => wrong.fix(fix),
            None => wrong.help(match (instead, some_words(self.dialect, &free)) {
                (Some(help), _) => help,
                (None, words) if words.is_empty() => "leave it out".to_owned(),
                (None, words) => format!("leave it out, or use one of {words}"),
            }),
        });
        if let Some(key) = near {
            found.put(key, entry);
        }
    }

    /// Reports that a key is not there.
    pub(crate) fn missing(&mut self, span: Span, key: Key, what: &str, help: &str) {
        let word = self.dialect.word(key);
        self.report(
            Diagnostic::new(Code::MissingKey, span, format!("`{word}` is missing in {what}"))
                .expected(format!("`{word}`"), format!("{what} without it"))
                .help(help.to_owned()),
        );
    }

    /// Reports a value of another kind than its key takes.
    pub(crate) fn bad_shape(&mut self, node: &Node<'a>, what: &str, expected: &str) {
        let found = node.kind_name();
        self.report(
            Diagnostic::new(
                Code::BadShape,
                first_of(node),
                format!("{what} is {expected}, but this is {found}"),
            )
            .expected(expected.to_owned(), found),
        );
    }
}

/// The own words of some keys, for a message.
pub(crate) fn some_words(dialect: Dialect, keys: &[Key]) -> String {
    let own = keys.iter().filter(|&&key| dialect.has(key));
    let words: Vec<String> = own.map(|&key| format!("`{}`", dialect.word(key))).collect();
    words.join(", ")
}
