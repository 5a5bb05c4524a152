//! The header of the next function of a file: of a helper, whose name and types the model chooses, or of the
//! program itself.
//!
//! A file is written function by function, callees above. For each the host lets the model write a header
//! with a [`Header`], and then the body with a [`crate::Guide`] over a session of that header.

use crate::Session;
use crate::body::{Body, BodyMark};
use crate::budget::Short;
use crate::surface::Steps;
use crate::tokens::letters;
use crate::vocab::{Vocab, bits::set};
use core::str::from_utf8;
use hashbrown::HashSet;
use ilo_asm::catalog::bare;
use ilo_spec::types::Base;

/// The most helpers of a file.
const HELPERS: usize = 16;
/// The most parameters of a helper, bytes of a name and `list`s of a type.
const PARAMETERS: usize = 8;
const NAME: usize = 40;
/// The most letters that are needed to make a name free: there are fewer tools.
const LETTERS: u32 = 4;
const LISTS: u8 = 2;
/// The most bytes from any position in a helper's header to its shortest end.
const LONGEST_END: usize = 40;

/// The header of an unfinished function.
pub type Header = Body<HeaderText>;

/// A position of a [`Header`] to return to.
pub type HeaderMark = BodyMark<usize>;

/// The text of an unfinished header.
#[derive(Clone)]
pub struct HeaderText {
    /// The program's own.
    own: String,
    /// The names of functions and tools, those of tools also without their server.
    taken: HashSet<String>,
    text: Vec<u8>,
    /// Whether the file may have another helper.
    may_help: bool,
}

impl Header {
    /// Begins the header of the next function of a file. The session is that of the program, with the
    /// functions above that are already written.
    pub fn new(session: &Session<'_>) -> Header {
        let tools = session.tools.iter().map(|tool| tool.name.as_str());
        let functions = session.functions.iter().map(String::as_str);
        let all = tools.clone().chain(tools.map(bare)).chain(functions);
        Body::of(HeaderText {
            own: session.header.clone(),
            taken: all.map(str::to_owned).collect(),
            text: Vec::new(),
            may_help: session.functions.len() <= HELPERS,
        })
    }

    /// Whether the header is complete: its line has ended.
    pub fn ended(&self) -> bool {
        self.text().ends_with(b"\n")
    }

    /// Whether the header is, or can only become, that of the program itself.
    pub fn is_own(&self) -> bool {
        !self.surface.begins_helper()
    }

    /// A text that completes the header: that of the program itself, if that is still possible.
    pub fn close(&self) -> String {
        self.surface.close()
    }

    /// Sets the bits of the tokens that may come next, and clears all others, so that the header can still be
    /// completed with `left` tokens, this one included. `u32::MAX` means no budget. If few are left, the mask
    /// has only the next token of [`Header::close`]. A complete header allows the token that ends a text.
    ///
    /// # Errors
    /// Where the budget was too small from the start.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        bits.fill(0);
        if self.ended() {
            set(bits, vocab.eos());
            return Ok(());
        }
        let close = self.close();
        if left as usize <= close.len().max(LONGEST_END) + 1 {
            let tokens = vocab.cut(close.as_bytes());
            if let Some(&first) = tokens.iter().flatten().next() {
                set(bits, first);
            }
            let needed = tokens.map(|tokens| tokens.len());
            let fits = needed.is_some_and(|needed| needed <= left as usize);
            return if fits { Ok(()) } else { Err(Short { needed }) };
        }
        for first in self.next_bytes() {
            for &token in vocab.with_first(first) {
                let fits = self.surface.tried(|header| {
                    header.text.extend_from_slice(vocab.token(token));
                    header.fits()
                });
                if fits {
                    set(bits, token);
                }
            }
        }
        Ok(())
    }
}

impl Steps for HeaderText {
    type Point = usize;

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn point(&self) -> usize {
        self.text.len()
    }

    fn back(&mut self, point: &usize) {
        self.text.truncate(*point);
    }

    fn byte(&mut self, byte: u8) -> bool {
        self.text.push(byte);
        self.fits()
    }

    fn may_end(&mut self) -> bool {
        self.text.ends_with(b"\n")
    }
}

impl HeaderText {
    /// Whether the text is the beginning of a header.
    fn fits(&self) -> bool {
        self.may_be_own() || self.begins_helper()
    }

    fn may_be_own(&self) -> bool {
        self.own.as_bytes().starts_with(&self.text)
    }

    fn close(&self) -> String {
        if self.may_be_own() {
            return self.own.get(self.text.len()..).unwrap_or_default().to_owned();
        }
        let mut text = String::from_utf8_lossy(&self.text).into_owned();
        while let Err(Some(next)) = self.helper(&text) {
            text += &next;
        }
        text.split_off(self.text.len().min(text.len()))
    }

    fn begins_helper(&self) -> bool {
        self.may_help && from_utf8(&self.text).is_ok_and(|text| self.helper(text) != Err(None))
    }

    /// Reads a helper's header.
    fn helper(&self, mut text: &str) -> Read<()> {
        bytes(&mut text, "; fn ")?;
        name(&mut text, |name| !self.taken.contains(name), "(")?;
        bytes(&mut text, "(")?;
        if text.is_empty() {
            return Err(Some(")".to_owned()));
        }
        let mut parameters: Vec<&str> = Vec::new();
        while !text.starts_with(')') {
            if parameters.len() == PARAMETERS {
                return Err(None);
            }
            bytes(&mut text, if parameters.is_empty() { "" } else { ", " })?;
            let parameter = name(&mut text, |name| !parameters.contains(&name), ":")?;
            bytes(&mut text, ": ")?;
            ty(&mut text, false, ")")?;
            parameters.push(parameter);
        }
        bytes(&mut text, ") -> ")?;
        if ty(&mut text, true, "\n")? {
            ty(&mut text, false, ",")?;
            bytes(&mut text, ", ")?;
            ty(&mut text, false, "\n")?;
        }
        bytes(&mut text, "\n")?;
        if text.is_empty() { Ok(()) } else { Err(None) }
    }
}

/// What was read. Where the text ends before it, the error is what comes next in the shortest header; `None`
/// if the text is not the beginning of one.
type Read<T> = Result<T, Option<String>>;

/// Reads these bytes.
fn bytes(text: &mut &str, bytes: &'static str) -> Read<()> {
    *text = text.strip_prefix(bytes).ok_or_else(|| bytes.strip_prefix(*text).map(str::to_owned))?;
    Ok(())
}

/// Reads a name that is free. If the text ends with it, letters must be able to make it one, and this is
/// behind.
fn name<'t>(text: &mut &'t str, is_free: impl Fn(&str) -> bool, behind: &str) -> Read<&'t str> {
    let is_part = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    let length = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    let begins = !name.starts_with(|c: char| !c.is_ascii_lowercase()) && !name.contains("--");
    let fits = |name: &str| !name.is_empty() && !name.ends_with('-') && is_free(name);
    let Some(room) = NAME.checked_sub(length).filter(|_| begins) else { return Err(None) };
    if rest.is_empty() {
        let most = u32::try_from(room).map_or(LETTERS, |room| room.min(LETTERS));
        let end = (0..=most).flat_map(letters).find(|end| fits(&[name, end].concat()));
        return Err(end.map(|end| end + behind));
    }
    *text = rest;
    if fits(name) { Ok(name) } else { Err(None) }
}

/// Reads a type, or `result` in its place, and returns whether it was that. If the text ends with it, this is
/// behind.
fn ty(text: &mut &str, may_be_result: bool, behind: &str) -> Read<bool> {
    for lists in 0.. {
        let result = (may_be_result && lists == 0).then_some("result");
        let list = (lists < LISTS).then_some("list");
        let mut words = Base::ALL.into_iter().map(|base| base.1).chain(list).chain(result);
        let length = text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
        let (word, rest) = text.split_at(length);
        if rest.is_empty() {
            let longer = words.filter_map(|it| Some((it, it.strip_prefix(word)?)));
            let soonest = longer.min_by_key(|it| (it.1.len(), it.0 != "nil"));
            let next = |whole| if matches!(whole, "list" | "result") { " " } else { behind };
            return Err(soonest.map(|(whole, rest)| [rest, next(whole)].concat()));
        }
        if !words.any(|it| it == word) {
            return Err(None);
        }
        *text = rest;
        match word {
            "list" => bytes(text, " ")?,
            "result" => return bytes(text, " ").map(|()| true),
            _ => break,
        }
    }
    Ok(false)
}
