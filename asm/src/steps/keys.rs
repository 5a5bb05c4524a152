//! Reads the keys of the records of a program: the meaning of each key, and unknown keys.
//!
//! Callers read the values.

use super::entries::Keyed;
use super::reader::StepReader;
use crate::diagnostic::Diagnostic;
use crate::dialect::reader_habits::Asked;
use crate::dialect::{HANDLER, Key};
use crate::document::{Entry, Node, entries, first_of, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// The keys of a record before anything is reported.
pub(crate) struct Known<'d, 'a> {
    pub(crate) found: Keyed<'d, 'a>,
    pub(crate) unknown: Vec<(usize, &'d Entry<'a>)>,
    /// An entry that repeats one before it.
    pub(crate) repeated: Vec<(&'d Entry<'a>, &'d Entry<'a>, Key)>,
}

impl<'a> StepReader<'_, 'a> {
    /// Reads the keys of a record, which may have `keys`; `what` names the record in messages.
    pub(crate) fn keyed<'d>(&mut self, node: &'d Node<'a>, keys: &[Key], what: &str) -> Keyed<'d, 'a> {
        let mut read = self.known(node, keys);
        if !read.unknown.is_empty()
            && let Some(new) = self.rewritten(Asked::Keys(keys, what), node)
        {
            read = self.known(new, keys);
        }
        for (entry, before, key) in read.repeated {
            self.repeated_key(entry, before, key);
        }
        for entry in read.unknown {
            self.unknown_key(entry, keys, what, &mut read.found);
        }
        read.found
    }

    /// The keys of a record that the notation has for `keys`.
    pub(crate) fn known<'d>(&self, node: &'d Node<'a>, keys: &[Key]) -> Known<'d, 'a> {
        let list: &'d [Entry<'a>] = entries(node);
        let mut read = Known { found: Keyed::of(list, node.span), unknown: Vec::new(), repeated: Vec::new() };
        for (index, entry) in list.iter().enumerate() {
            match entry.name().and_then(|name| self.dialect.key(name, keys)) {
                None => read.unknown.push((index, entry)),
                Some(key) => {
                    let before = read.found.put(key, index);
                    read.repeated.extend(before.map(|before| (entry, before, key)));
                }
            }
        }
        read
    }

    fn repeated_key(&mut self, entry: &Entry<'a>, before: &Entry<'a>, key: Key) {
        let word = self.dialect.word(key);
        let message = format!("`{}` repeats `{}`", shown(&entry.key), shown(&before.key));
        self.report(
            Diagnostic::new(Code::DuplicateKey, entry.key.span, message)
                .expected(format!("`{word}` once"), "both")
                .related(before.key.span, "first here")
                .help("leave one of them out"),
        );
    }

    /// Reports an unknown key. The nearest key that the record does not have is read in its place.
    fn unknown_key(
        &mut self,
        (index, entry): (usize, &Entry<'a>),
        keys: &[Key],
        what: &str,
        found: &mut Keyed<'_, 'a>,
    ) {
        let name = entry.name();
        let free: Vec<Key> = keys.iter().copied().filter(|&key| !found.has(key)).collect();
        let near = name.and_then(|name| self.dialect.nearest(name, &free));
        let word = near.map(|key| self.dialect.word(key));
        let wrong = self.dialect.unknown_key(&entry.key, keys, what, word);
        let help = match self.dialect.listed(&free) {
            words if words.is_empty() => "leave it out".to_owned(),
            words if *keys == HANDLER => format!("a value is under `value`; otherwise use one of {words}"),
            words => format!("leave it out, or use one of {words}"),
        };
        self.report(wrong.fix_or_help(word.and_then(|word| rename(&entry.key, word)), help));
        if let Some(key) = near {
            found.put(key, index);
        }
    }

    /// Reports a missing key.
    pub(crate) fn missing(&mut self, span: Span, key: Key, what: &str, help: &str) {
        let word = self.dialect.word(key);
        self.report(
            Diagnostic::new(Code::MissingKey, span, format!("`{word}` is missing in {what}"))
                .expected(format!("`{word}`"), format!("{what} without it"))
                .help(help.to_owned()),
        );
    }

    /// Reports a value of the wrong kind.
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
