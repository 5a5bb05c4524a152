//! Inlay hints: the names of numbers in ID text, which an editor shows after them.

use super::Analysis;
use super::mention::{Role, What};
use crate::span::Span;
use crate::text::shortened;

/// The most characters of a name that are shown.
const LONGEST: usize = 24;

/// A text that is shown after a position and is not part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The offset after which it is shown.
    pub offset: u32,
    /// The text.
    pub label: String,
}

impl Analysis<'_> {
    /// The names of the slots, tools and fields whose numbers are in a range of ID text.
    pub fn hints(&self, range: Span) -> Vec<Hint> {
        if self.text.is_none() {
            return Vec::new();
        }
        let first = self.mentions.partition_point(|mention| mention.span.end < range.start);
        let within = self.mentions.iter().skip(first).take_while(|mention| mention.span.start <= range.end);
        within
            .filter_map(|mention| {
                let written = self.at(mention.span);
                if !written.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                let label = match mention.what {
                    What::Slot(slot, Role::Bind | Role::Use) => self.slot_name(mention.function, slot),
                    What::Tool(name, Role::Use) => name.to_owned(),
                    What::Argument(_, name) | What::Field(_, name) | What::Key(name, Role::Use) => {
                        name.to_owned()
                    }
                    _ => return None,
                };
                let hint = Hint { offset: mention.span.end, label: shortened(&label, LONGEST) };
                (label != written).then_some(hint)
            })
            .collect()
    }
}
