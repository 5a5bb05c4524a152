//! Texts that may be references or contain some: `"user"`, `"user.name"`, `"Dear ${user.name}, …"`.
//!
//! The meaning of a text is known when it ends, by the same rules as in the checker. Before that, only names
//! in `${…}` have an effect. A text that is nearly a reference cannot end: it continues until it is not one.

use super::choice::{Choice, choice};
use super::choices::{Choices, View};
use super::machine::{JsonMachine, Lex, Next, TEXT as LONGEST, decoded};
use super::paths::{self, Path};
use crate::automaton::offers::{self, TEXT, one};
use crate::automaton::texts::{Inside, is_text};
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_asm::expr::reference::{FAILURES, INPUT, is_bare};
use ilo_asm::text::{is_name, nearly_meets};
use ilo_spec::node::Word;

/// In the text itself.
pub(super) const PLAIN: Lex = Lex::Bare { inside: Inside::Plain, dollar: false };

/// The meaning of a text.
enum Meaning {
    Text(String),
    Reference(Path),
    /// A text with references in it.
    Template(Vec<Path>),
}

/// Takes the brace that begins a reference in a text.
pub(super) fn begin_hole(machine: &mut JsonMachine<'_>) -> bool {
    hole_choices(machine);
    machine.goes_on(Next::Hole);
    machine.choices().len() > 0
}

/// Whether there is room for a byte that was written. A byte that turns a possible reference into a text
/// always has room.
pub(super) fn has_room(machine: &JsonMachine<'_>, inside: Inside, byte: u8) -> bool {
    let written = written_text(machine);
    written.len() < LONGEST
        || inside != Inside::Plain
        || (byte == b' ' && !is_text(written.get(..written.len() - 1).unwrap_or_default()))
}

/// Whether an escape that was written is of a byte that marks references: it must be plain.
pub(super) fn is_escaped_mark(machine: &JsonMachine<'_>, inside: Inside) -> bool {
    let digits = machine.text.get(machine.text.len().saturating_sub(4)..).unwrap_or_default();
    matches!(inside, Inside::Unicode(..)) && (digits == b"0024" || digits.eq_ignore_ascii_case(b"007b"))
}

/// The text so far, without its quote.
pub(super) fn written_text<'a>(machine: &'a JsonMachine<'_>) -> &'a [u8] {
    machine.text.get(machine.place.quote.start + 1..).unwrap_or_default()
}

/// Ends the text and applies its meaning.
pub(super) fn end_bare(machine: &mut JsonMachine<'_>) -> Option<()> {
    let text = decoded(machine.text.get(machine.place.quote.start..)?)?;
    match meaning(machine, &text)? {
        Meaning::Reference(path) => machine.take_path(path.slot, path.fields()),
        Meaning::Text(text) => {
            machine.literal(TEXT);
            let constant = Literal::Text(&text);
            if !machine.core.takes_constant(constant) {
                return None;
            }
            machine.take_constant(constant);
        }
        Meaning::Template(all) => {
            begin_template(machine);
            all.iter().for_each(|path| machine.core.read(path.slot));
            machine.literal(TEXT);
            machine.take_constant(Literal::Text(""));
        }
    }
    Some(())
}

/// Begins a template: a text with references in it.
fn begin_template(machine: &mut JsonMachine<'_>) {
    machine.open(Word::Concat);
    machine.literal(TEXT);
    machine.core.take_constant(Literal::Text(""));
}

/// The meaning of a text here; `None` if it is nearly a reference. What is in `${…}` was chosen there.
fn meaning(machine: &mut JsonMachine<'_>, text: &str) -> Option<Meaning> {
    if text.contains('.') && is_bare(text) || is_name(text) && meets_name(machine, text) {
        return path_of(machine, text).filter(|&path| may_be_value(machine, path)).map(Meaning::Reference);
    }
    let (mut plain, mut paths) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        plain.push_str(before);
        if let Some(inside) = behind.strip_prefix('{') {
            let (path, behind) = inside.split_once('}')?;
            paths.push(path_of(machine, path)?);
            rest = behind;
        } else {
            plain.push('$');
            rest = behind.strip_prefix('$').unwrap_or(behind);
        }
    }
    plain.push_str(rest);
    match paths[..] {
        [] => Some(Meaning::Text(plain)),
        [path] if plain.is_empty() => may_be_value(machine, path).then_some(Meaning::Reference(path)),
        _ => Some(Meaning::Template(paths)),
    }
}

/// Whether a text is a present or earlier name, or nearly one.
pub(super) fn meets_name(machine: &JsonMachine<'_>, text: &str) -> bool {
    let has = |name: &str| name == text || nearly_meets(text, name);
    text == INPUT || FAILURES.contains(&text) || machine.place.names.iter().any(|named| has(&named.name))
}

/// The slot and the fields of a written path.
fn path_of(machine: &JsonMachine<'_>, written: &str) -> Option<Path> {
    let mut names = written.split('.');
    let root = names.next()?;
    let named = machine.place.names.iter().find(|named| named.live && *named.name == *root)?;
    let session = machine.core.session;
    let number = |name: &str| session.field_numbers.get(name).copied().filter(|_| is_name(name));
    let fields: Vec<u32> = names.map(number).collect::<Option<_>>()?;
    let path = fields.iter().fold(Path::of(named.slot), |path, &field| path.with(field));
    (path.fields().len() == fields.len()).then_some(path)
}

/// Whether a path may be the whole value.
fn may_be_value(machine: &mut JsonMachine<'_>, path: Path) -> bool {
    let words = machine.place.quote.words;
    let slot = path.slot.into();
    let Some((&last, before)) = path.fields().split_last() else {
        return words & one(Word::Ref) != 0
            && machine.opened(Word::Ref, |this| offers::takes_integer(&this.core, slot));
    };
    let (takes_slot, aim) =
        machine.opened(Word::Field, |this| (offers::takes_integer(&this.core, slot), paths::aim(this)));
    let mut begun = Path::of(path.slot);
    words & one(Word::Field) != 0
        && takes_slot
        && before.iter().all(|&field| {
            let fits = paths::may_go_on(machine, begun, field, aim);
            begun = begun.with(field);
            fits
        })
        && paths::may_end_path(machine, begun, last, aim)
}

/// The references that may be in `${…}`, computed once for each text.
pub(super) fn hole_choices(machine: &mut JsonMachine<'_>) -> Choices {
    if let Some(known) = &machine.place.quote.holes {
        return known.clone();
    }
    let found = Choices::listed(holes(machine));
    machine.place.quote.holes.insert(found).clone()
}

/// The references that may be in `${…}`.
pub(super) fn holes(machine: &mut JsonMachine<'_>) -> Vec<Choice> {
    if machine.place.quote.words & one(Word::Concat) == 0 {
        return Vec::new();
    }
    machine.tried(|this| {
        begin_template(this);
        let words = offers::words(&mut this.core);
        this.references(words, "}")
    })
}

/// The fields of a path that may come next in `${…}`.
pub(super) fn hole_fields(machine: &mut JsonMachine<'_>) -> Choices {
    machine.tried(|this| {
        begin_template(this);
        paths::fields(this, this.place.path, true)
    })
}

/// How a text can continue as a reference, or with one.
pub(super) fn rests(machine: &mut JsonMachine<'_>) -> Vec<String> {
    let Lex::Bare { inside: Inside::Plain, dollar } = machine.place.lex else { return Vec::new() };
    let words = machine.place.quote.words;
    let written = String::from_utf8_lossy(written_text(machine)).into_owned();
    let found = match written.rsplit_once('.') {
        None => machine.references(words, "\""),
        Some((written_path, _)) => {
            let read = path_of(machine, written_path).filter(|_| words & one(Word::Field) != 0);
            machine.tried(|this| {
                let Some(fields) = read.map(|path| paths::fields(this, path, false)) else {
                    return Vec::new();
                };
                let all = View::new(&fields, this.core.session).all(0, usize::MAX);
                all.map(|(_, bytes, act)| choice(format!("{written_path}.{bytes}"), act)).collect()
            })
        }
    };
    let rests = found.iter().filter_map(|it| it.bytes.strip_prefix(written.as_str()));
    let mut rests: Vec<String> = rests.filter(|rest| !rest.is_empty()).map(str::to_owned).collect();
    let hole = if dollar { "{" } else { "${" };
    if machine.tried(|this| hole.bytes().all(|byte| this.byte(byte))) {
        rests.push(hole.to_owned());
    }
    rests
}

/// Whether a text in quotes is plain, and no reference begins like it.
pub(super) fn stays_text(machine: &mut JsonMachine<'_>, quoted: &str) -> bool {
    let Some(text) = decoded(quoted.as_bytes()) else { return false };
    let starts_path = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let is_reference = machine.place.names.iter().any(|named| starts_path(&named.name));
    !is_reference && matches!(meaning(machine, &text), Some(Meaning::Text(same)) if same == text)
}
