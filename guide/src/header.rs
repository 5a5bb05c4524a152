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
use hashbrown::HashSet;
use ilo_asm::catalog::bare;
use ilo_spec::types::Base;

/// The most helpers of a file.
const HELPERS: usize = 16;
/// The most parameters of a helper, bytes of a name and `list`s of a type.
const PARAMETERS: u8 = 8;
const NAME: usize = 40;
/// The most letters that are needed to make a name free: there are fewer tools.
const LETTERS: u32 = 4;
const LISTS: u8 = 2;

const START: &[u8] = b"; fn ";
const BLANK: &[u8] = b" ";
/// Behind the parameters.
const TO_OUTPUT: Place = Place::Fixed(b" -> ", Part::Type(Typed::Output, 0));
/// The bytes that end a header after its parameters.
const NIL: &str = "nil\n";
/// The most bytes from any position in a helper's header to its shortest end.
const LONGEST_END: usize = 40;

/// The header of an unfinished function.
pub type Header = Body<HeaderText>;

/// A position of a [`Header`] to return to.
pub type HeaderMark = BodyMark<HeaderPoint>;

/// The text of an unfinished header.
#[derive(Clone)]
pub struct HeaderText {
    /// The program's own.
    own: String,
    /// The names of functions and tools, those of tools also without their server.
    taken: HashSet<String>,
    text: Vec<u8>,
    /// The position in a helper's header at which the text ends; `None` if the text is not one.
    helper: Option<Place>,
    /// The names of its parameters.
    parameters: Vec<String>,
}

/// A position in the header of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before these bytes, and the part that follows them.
    Fixed(&'static [u8], Part),
    /// In a part that begins at this byte.
    In(Part, usize),
    /// After the opening bracket.
    Open,
    Ended,
}

/// A name or a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Name,
    Parameter,
    /// After this number of `list`s.
    Type(Typed, u8),
}

/// The owner of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    Parameter,
    /// The output, or the word `result`.
    Output,
    /// The types of a `result` for success and for failure.
    Success,
    Failure,
}

/// A position to return to.
#[derive(Clone, Copy)]
pub struct HeaderPoint {
    text: usize,
    helper: Option<Place>,
    parameters: usize,
}

impl Header {
    /// Begins the header of the next function of a file. The session is that of the program, with the
    /// functions above that are already written.
    pub fn new(session: &Session<'_>) -> Header {
        let tools = session.tools.iter().map(|tool| tool.name.as_str());
        let functions = session.functions.iter().map(String::as_str);
        let all = tools.clone().chain(tools.map(bare)).chain(functions);
        let helper = (session.functions.len() <= HELPERS).then_some(Place::Fixed(START, Part::Name));
        Body::of(HeaderText {
            own: session.header.clone(),
            taken: all.map(str::to_owned).collect(),
            text: Vec::new(),
            helper,
            parameters: Vec::new(),
        })
    }

    /// Whether the header is complete: its line has ended.
    pub fn ended(&self) -> bool {
        self.text().ends_with(b"\n")
    }

    /// Whether the header is, or can only become, that of the program itself.
    pub fn is_own(&self) -> bool {
        self.surface.helper.is_none()
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
                if self.surface.tried(|text| vocab.token(token).iter().all(|&byte| text.byte(byte))) {
                    set(bits, token);
                }
            }
        }
        Ok(())
    }
}

impl Steps for HeaderText {
    type Point = HeaderPoint;

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn point(&self) -> HeaderPoint {
        HeaderPoint { text: self.text.len(), helper: self.helper, parameters: self.parameters.len() }
    }

    fn back(&mut self, point: &HeaderPoint) {
        self.text.truncate(point.text);
        self.parameters.truncate(point.parameters);
        self.helper = point.helper;
    }

    fn byte(&mut self, byte: u8) -> bool {
        let is_own = self.own.as_bytes().get(self.text.len()) == Some(&byte) && self.may_be_own();
        let helper = self.helper.and_then(|place| self.step(place, byte));
        if is_own || helper.is_some() {
            self.text.push(byte);
            self.helper = helper;
        }
        is_own || helper.is_some()
    }

    fn may_end(&mut self) -> bool {
        self.text.ends_with(b"\n")
    }

    fn session(&self) -> usize {
        0
    }
}

impl HeaderText {
    /// The bytes of a helper's header from an offset: they are ASCII.
    fn from(&self, at: usize) -> &str {
        core::str::from_utf8(self.text.get(at..).unwrap_or_default()).unwrap_or_default()
    }

    fn close(&self) -> String {
        if self.may_be_own() {
            return self.own.get(self.text.len()..).unwrap_or_default().to_owned();
        }
        let (fixed, part, from) = match self.helper {
            None | Some(Place::Ended) => return String::new(),
            Some(Place::Open) => return ") -> ".to_owned() + NIL,
            Some(Place::Fixed(fixed, part)) => (fixed, part, self.text.len() + fixed.len()),
            Some(Place::In(part, from)) => (&b""[..], part, from),
        };
        let behind_type = |of: Typed| match of {
            Typed::Parameter => format!(") -> {NIL}"),
            Typed::Success => format!(", {NIL}"),
            Typed::Output | Typed::Failure => "\n".to_owned(),
        };
        let end = match part {
            Part::Name => self.freed(from, true) + "() -> " + NIL,
            Part::Parameter => self.freed(from, false) + ": any" + &behind_type(Typed::Parameter),
            Part::Type(of, lists) => {
                let word = self.from(from);
                let goes_on = words(of, lists).filter(|it| it.starts_with(word));
                let whole = goes_on.min_by_key(|it| (it.len(), *it != "nil")).unwrap_or_default();
                let rest = whole.get(word.len()..).unwrap_or_default();
                match whole {
                    "result" => format!("{rest} nil, {NIL}"),
                    "list" => format!("{rest} nil{}", behind_type(of)),
                    _ => rest.to_owned() + &behind_type(of),
                }
            }
        };
        String::from_utf8_lossy(fixed).into_owned() + &end
    }

    fn may_be_own(&self) -> bool {
        self.own.as_bytes().starts_with(&self.text)
    }

    /// The position after a byte of a helper's header.
    fn step(&mut self, place: Place, byte: u8) -> Option<Place> {
        let here = self.text.len();
        Some(match place {
            Place::Fixed(bytes, part) => match bytes.split_first().filter(|it| *it.0 == byte)?.1 {
                [] => Place::In(part, here + 1),
                rest => Place::Fixed(rest, part),
            },
            Place::In(Part::Name, from) if byte == b'(' => {
                self.may_end_name(from, true).then_some(Place::Open)?
            }
            Place::In(Part::Parameter, from) if byte == b':' => {
                self.may_end_name(from, false).then_some(())?;
                self.parameters.push(self.from(from).to_owned());
                Place::Fixed(BLANK, Part::Type(Typed::Parameter, 0))
            }
            Place::In(Part::Type(of, lists), from) => self.in_type(of, from, lists, byte)?,
            Place::In(part, from) => self.goes_on(from, byte, part == Part::Name).then_some(place)?,
            Place::Open if byte == b')' => TO_OUTPUT,
            Place::Open => self.goes_on(here, byte, false).then_some(Place::In(Part::Parameter, here))?,
            Place::Ended => return None,
        })
    }

    fn in_type(&self, of: Typed, from: usize, lists: u8, byte: u8) -> Option<Place> {
        let (word, next) = (self.from(from), self.text.len() + 1);
        let is_base = Base::ALL.iter().any(|base| base.1 == word);
        Some(match byte {
            b' ' if word == "list" => Place::In(Part::Type(of, lists + 1), next),
            b' ' if word == "result" => Place::In(Part::Type(Typed::Success, 0), next),
            b',' if is_base && of == Typed::Parameter && self.parameters.len() < PARAMETERS.into() => {
                Place::Fixed(BLANK, Part::Parameter)
            }
            b')' if is_base && of == Typed::Parameter => TO_OUTPUT,
            b',' if is_base && of == Typed::Success => Place::Fixed(BLANK, Part::Type(Typed::Failure, 0)),
            b'\n' if is_base && matches!(of, Typed::Output | Typed::Failure) => Place::Ended,
            _ => {
                let goes_on = |it: &str| it.starts_with(word) && it.as_bytes().get(word.len()) == Some(&byte);
                words(of, lists).any(goes_on).then_some(Place::In(Part::Type(of, lists), from))?
            }
        })
    }

    /// Whether the name may end here.
    fn may_end_name(&self, from: usize, function: bool) -> bool {
        let name = self.from(from);
        !name.is_empty() && !name.ends_with('-') && self.is_free(name, function)
    }

    /// Whether the name is unique: no function or tool, or no parameter, has it.
    fn is_free(&self, name: &str, function: bool) -> bool {
        if function { !self.taken.contains(name) } else { !self.parameters.iter().any(|it| it == name) }
    }

    /// Whether a byte may be the next of a name that begins at a place.
    fn goes_on(&self, from: usize, byte: u8, function: bool) -> bool {
        let name = self.from(from);
        let fits = match byte {
            b'a'..=b'z' => true,
            b'0'..=b'9' => !name.is_empty(),
            b'-' => !name.is_empty() && !name.ends_with('-'),
            _ => false,
        };
        let next = || name.to_owned() + char::from(byte).encode_utf8(&mut [0; 4]);
        fits && (name.len() + 4 < NAME || self.free(&next(), function).is_some())
    }

    /// The letters that complete a beginning to a free name.
    fn free(&self, name: &str, function: bool) -> Option<String> {
        let fits = |end: &String| {
            let whole = name.to_owned() + end;
            !whole.is_empty() && !whole.ends_with('-') && self.is_free(&whole, function)
        };
        let most = u32::try_from(NAME.checked_sub(name.len())?).map_or(LETTERS, |room| room.min(LETTERS));
        (0..=most).flat_map(letters).find(fits)
    }

    /// The same for the name that begins at a place; each beginning that is taken has them.
    fn freed(&self, from: usize, function: bool) -> String {
        self.free(self.from(from), function).unwrap_or_default()
    }
}

/// The words that may continue a type.
fn words(of: Typed, lists: u8) -> impl Iterator<Item = &'static str> {
    let result = (of == Typed::Output && lists == 0).then_some("result");
    let list = (lists < LISTS).then_some("list");
    Base::ALL.into_iter().map(|base| base.1).chain(list).chain(result)
}
