//! The habits of ID text: a table of tokens of other languages, with the meaning of each and what to write
//! instead.
//!
//! The parser uses the table when it does not understand a token ([`crate::syntax::unknown_token`]). A row
//! has the position and the token, how parsing continues, the message, the replacement if only one thing can
//! be meant, and an example. A row can be added without changing the parser, and removing a row affects no
//! valid program.

pub(crate) mod references;
pub(crate) mod rows;
pub(crate) mod words;

use crate::syntax::unknown_token::{Constant, ForeignTokens, FoundToken, Lookup, References, Site};
use crate::text::shorten;
use ilo_spec::node::{TABLE, Word};
use rows::{ROWS, Row};

/// All habits of ID text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenHabits;

impl ForeignTokens for TokenHabits {
    fn word(&self, text: &str) -> Option<Word> {
        let own = TABLE.iter().find(|row| same_letters(row.mnemonic, text)).map(|row| row.word);
        let other = || words::INSTRUCTIONS.iter().find(|habit| same_letters(habit.word, text));
        own.or_else(|| other().map(|habit| habit.means))
    }

    fn literal(&self, text: &str) -> Option<Constant> {
        let own = Constant::ALL.into_iter().find(|constant| constant.word.eq_ignore_ascii_case(text));
        let other = || words::CONSTANTS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        own.or_else(|| Constant::of(other()?.1))
    }

    fn find(&self, site: &Site<'_>, names: &mut dyn Lookup) -> Option<FoundToken> {
        ROWS.iter().filter(|row| (row.at)(site.place)).find_map(|row| {
            let bound = row.pattern.bind(site, names)?;
            Some(found(row, site, &bound))
        })
    }

    fn references(&self, text: &str, names: &mut dyn Lookup) -> Option<References> {
        references::find(text, names)
    }
}

/// The answer of a row for a token.
fn found(row: &Row, site: &Site<'_>, bound: &rows::Bound<'_>) -> FoundToken {
    let fill = |template: &str| fill(template, site, bound);
    FoundToken {
        reading: bound.reading.clone(),
        message: (!row.message.is_empty()).then(|| fill(row.message)),
        help: (!row.help.is_empty()).then(|| fill(row.help)),
        fix: row.fix.map(fill),
    }
}

/// A template with the values of its fields: `{text}` is the token, `{of}` the instruction that expects
/// something else, `{name}` and `{slot}` a slot, `{new}` what is written here, `{before}` the value before
/// the token.
fn fill(template: &str, site: &Site<'_>, bound: &rows::Bound<'_>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((plain, (field, behind))) =
        rest.split_once('{').and_then(|(plain, behind)| Some((plain, behind.split_once('}')?)))
    {
        out.push_str(plain);
        match field {
            "text" => out.push_str(&shorten(site.text)),
            "of" => out.push_str(site.place.of().map_or("", Word::mnemonic)),
            "name" => out.push_str(bound.name),
            "slot" => out.push_str(&bound.slot.to_string()),
            "new" => out.push_str(&bound.new),
            "before" => out.push_str(&shorten(site.before)),
            _ => {}
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Whether two words are equal except for case and separators.
fn same_letters(one: &str, other: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b':')).map(|b| b.to_ascii_uppercase())
    }
    letters(one).eq(letters(other))
}
