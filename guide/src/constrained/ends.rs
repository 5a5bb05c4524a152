//! Masks in names and in texts that may be references: the tokens that stay in one are in tables of the
//! vocabulary; those that end one are found by the bytes after the end.

use super::machine::{Binds, JsonMachine};
use super::names::{self, FREE, may_be_bound};
use super::{mask, texts};
use crate::automaton::texts::{Inside, is_text};
use crate::surface::Steps;
use crate::surface::walk::{ANY, Walks, with_tails};
use crate::vocab::bits::{self, clear, has, set, set_all};
use crate::vocab::{Closer, TextTokens, Vocab};
use ilo_asm::text::is_name;
use std::sync::Arc;

/// Sets the tokens that begin a text that may be a reference, after their quote. Those that stay in it
/// are set only if `with_open` is.
pub(super) fn fill_opening(machine: &mut JsonMachine<'_>, vocab: &Vocab, with_open: bool, bits: &mut [u32]) {
    let json = vocab.json();
    if with_open {
        set_all(bits, &json.opens);
    }
    fill_holes(machine, vocab, &json.opening, bits);
    fill_ends(machine, vocab, &json.opening, bits);
}

/// Sets the tokens that stay in a text that may be a reference, from the tables, and those that end it:
/// by the bytes after its end if it is certainly a text.
pub(super) fn fill_bare(
    machine: &mut JsonMachine<'_>,
    vocab: &Vocab,
    inside: Inside,
    dollar: bool,
    bits: &mut [u32],
) {
    vocab.texts.fill(inside, bits);
    let json = vocab.json();
    if inside == Inside::Plain && !dollar {
        fill_kept_holes(machine, vocab, bits);
    } else {
        fill_holes(machine, vocab, &json.within, bits);
    }
    if inside != Inside::Plain {
        clear_escaped_marks(machine, vocab, inside, bits);
        return machine.each(vocab, vocab.texts.closers(inside).iter().map(|it| it.token), 0, bits);
    }
    fill_ends(machine, vocab, &json.within, bits);
    if dollar {
        vocab.with_first(b'{').iter().for_each(|&token| clear(bits, token));
        mask::walk_all(machine, vocab, b'{'..=b'{', bits);
    }
}

/// Sets the tokens that begin a reference in a text, and clears those that may not.
fn fill_holes(machine: &mut JsonMachine<'_>, vocab: &Vocab, tokens: &TextTokens, bits: &mut [u32]) {
    if !tokens.holes.is_empty() {
        texts::hole_choices(machine);
    }
    tokens.holes.iter().for_each(|&token| clear(bits, token));
    machine.walk_from(vocab, &tokens.hole_tree, ANY, tokens.skipped, bits);
}

/// The same in a text after a byte that has no effect on the next one.
fn fill_kept_holes(machine: &mut JsonMachine<'_>, vocab: &Vocab, bits: &mut [u32]) {
    let tokens = &vocab.json().within;
    let start = machine.place.quote.start;
    let holes = match &machine.kept(vocab, start).holes {
        Some(holes) => Arc::clone(holes),
        None => {
            fill_holes(machine, vocab, tokens, bits);
            let allowed = tokens.holes.iter().copied().filter(|&token| has(bits, token));
            let allowed: Arc<[u32]> = allowed.collect();
            machine.kept(vocab, start).holes = Some(Arc::clone(&allowed));
            allowed
        }
    };
    for &token in &tokens.holes {
        // The end of the text depends on its beginning.
        let fits = if vocab.token(token).contains(&b'"') {
            machine.takes(vocab.token(token))
        } else {
            holes.contains(&token)
        };
        if fits {
            set(bits, token);
        } else {
            clear(bits, token);
        }
    }
}

/// Sets the tokens that end a text that may be a reference.
fn fill_ends(machine: &mut JsonMachine<'_>, vocab: &Vocab, tokens: &TextTokens, bits: &mut [u32]) {
    let is_sure = is_text(texts::written_text(machine));
    let fits = machine.kept_ends(vocab, machine.place.quote.start, |this| {
        this.tried(|this| {
            // One blank makes it a text.
            let ends = (is_sure || this.byte(b' ')) && this.byte(b'"');
            if ends { this.tails(vocab) } else { Vec::new() }
        })
    });
    let mut give = |closers: &[Closer], fits: &[u32]| {
        with_tails(closers, fits).for_each(|it| set(bits, it.token));
    };
    give(&tokens.sure, &fits);
    for (before, closers) in &tokens.unsure {
        if is_sure || is_sure_text(machine, &[texts::written_text(machine), &**before].concat()) {
            give(closers, &fits);
            continue;
        }
        let fits = machine.tried(|this| {
            let ends = before.iter().chain(b"\"").all(|&byte| this.byte(byte));
            if ends { this.tails(vocab) } else { Vec::new() }
        });
        give(closers, &fits);
    }
}

/// Whether a text with these bytes would not be a reference.
pub(super) fn is_sure_text(machine: &JsonMachine<'_>, whole: &[u8]) -> bool {
    if is_text(whole) {
        return true;
    }
    let whole = core::str::from_utf8(whole).ok();
    whole.is_some_and(|text| {
        let is_plain = !text.bytes().any(|byte| matches!(byte, b'$' | b'.' | b'\\'));
        is_plain && !(is_name(text) && texts::meets_name(machine, text))
    })
}

/// Clears the tokens that would make an escape one of a byte that marks references.
fn clear_escaped_marks(machine: &JsonMachine<'_>, vocab: &Vocab, inside: Inside, bits: &mut [u32]) {
    let written = match inside {
        Inside::Escape => 0,
        Inside::Unicode(digits, _) => 1 + usize::from(digits),
        _ => return,
    };
    for mark in [b"u0024", b"u007b", b"u007B"] {
        let (before, rest) = mark.split_at(written.min(mark.len()));
        if machine.text.ends_with(before) {
            vocab.beginning(rest).iter().for_each(|&token| clear(bits, token));
        }
    }
}

/// Sets the tokens that stay in a name, from the tables, and those that end it.
pub(super) fn fill_name(
    machine: &mut JsonMachine<'_>,
    vocab: &Vocab,
    start: usize,
    of: Binds,
    bits: &mut [u32],
) {
    let json = vocab.json();
    bits::copy(&json.names, bits);
    let written = machine.text.get(start..).unwrap_or_default().to_vec();
    let refused: &[u8] = match written.last() {
        None => b"-_0123456789",
        Some(b'-') => b"-",
        Some(_) => b"",
    };
    for token in refused.iter().flat_map(|&first| vocab.with_first(first)) {
        clear(bits, *token);
    }
    // Tokens that make the name long are checked: it must still become one that is free.
    for &token in &json.long {
        let bytes = vocab.token(token);
        if written.len() + bytes.len() < FREE {
            break;
        }
        if !machine.takes(bytes) {
            clear(bits, token);
        }
    }
    fill_parts(machine, vocab, &written, of, bits);
    // All new names have the same effect, except on references to them.
    let fits = machine.kept_ends(vocab, start, |this| {
        this.tried(|this| {
            if of != Binds::Part && names::end_new_name(this, of) { this.tails(vocab) } else { Vec::new() }
        })
    });
    for (before, closers) in &json.name_ends {
        let name = [&written, &**before].concat();
        let is_refused = before.first().is_some_and(|first| refused.contains(first));
        let name = core::str::from_utf8(&name).ok().filter(|name| !is_refused && may_be_bound(name));
        let Some(name) = name else {
            continue;
        };
        if of == Binds::Part
            || name.len() > FREE
            || machine.place.names.iter().any(|named| *named.name == *name)
        {
            machine.each(vocab, closers.iter().map(|it| it.token), 0, bits);
            continue;
        }
        for closer in with_tails(closers, &fits) {
            let quotes = vocab.tails.bytes(closer.tail).split(|&byte| byte == b'"').skip(1).count();
            if quotes <= MOST_QUOTES || machine.takes(vocab.token(closer.token)) {
                set(bits, closer.token);
            }
        }
    }
}

/// Sets the tokens with a dot, after a name of which parts may be set or a key.
fn fill_parts(machine: &mut JsonMachine<'_>, vocab: &Vocab, written: &[u8], of: Binds, bits: &mut [u32]) {
    let rests: Vec<Vec<u8>> = match of {
        Binds::Part => {
            let tokens = vocab.json().dotted.iter().copied();
            let fits: Vec<u32> = tokens.filter(|&token| machine.takes(vocab.token(token))).collect();
            return set_all(bits, &fits);
        }
        Binds::Let => {
            let live = machine.place.names.iter().filter(|named| named.live);
            let rests = live.filter_map(|named| named.name.as_bytes().strip_prefix(written));
            rests.map(|rest| [rest, b"."].concat()).collect()
        }
        _ => Vec::new(),
    };
    for rest in rests {
        if !machine.takes(&rest) {
            continue;
        }
        // Shorter tokens end before the dot.
        match rest[..] {
            [dot] => mask::walk_all(machine, vocab, dot..=dot, bits),
            _ => machine.each(vocab, vocab.beginning(&rest).iter().copied(), 0, bits),
        }
    }
}

/// The most quotes after a name that certainly do not begin a text: `","expr":`.
const MOST_QUOTES: usize = 2;
