//! The bytes of a body in `constrained`, forward and back.

use super::choices::View;
use super::machine::{Around, JsonMachine, JsonPoint, Leads, Lex, Next};
use super::{names, texts};
use crate::automaton::state::Core;
use crate::automaton::texts::Inside;
use crate::surface::walk::{Common, Found, Look, Tree, Walk};
use crate::surface::{Bytes, Steps};
use crate::vocab::Prefixes;
use core::ptr::from_ref;
use ilo_asm::ast::Literal;
use ilo_asm::dialect::{Key, word_of};
use ilo_asm::notation::Notation;
use ilo_spec::number;

/// The bytes that may be in a number or after it, in order.
const IN_NUMBERS: [u8; 18] = *b"+,-.0123456789E]e}";

impl Steps for JsonMachine<'_> {
    type Point = JsonPoint;

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn point(&self) -> JsonPoint {
        JsonPoint {
            core: self.core.point(),
            text: self.text.len(),
            arounds: self.arounds.len(),
            place: self.place.clone(),
        }
    }

    fn back(&mut self, point: &JsonPoint) {
        self.core.back(&point.core);
        self.text.truncate(point.text);
        self.arounds.truncate(point.arounds);
        self.walk.forget(point.text);
        self.memo.cut(point.text);
        self.place.clone_from(&point.place);
    }

    fn mark(&self) -> JsonPoint {
        let mut point = self.point();
        point.place.choices = None;
        point.place.quote.holes = None;
        point
    }

    fn byte(&mut self, byte: u8) -> bool {
        let leads = self.leads(byte);
        if let (Leads::Unknown, Lex::Number { start }) = (&leads, self.place.lex) {
            return self.end_number(start) && self.byte(byte);
        }
        self.text.push(byte);
        match leads {
            Leads::Nowhere => false,
            Leads::On(lex) => {
                self.place.lex = lex;
                true
            }
            Leads::Act(act) => self.take(act),
            Leads::Unknown => match self.place.lex {
                Lex::Text { start, .. } => self.end_text(start),
                Lex::Bare { .. } if byte == b'{' => texts::begin_hole(self),
                Lex::Bare { .. } => texts::end_bare(self).is_some(),
                Lex::Name { start, of } => names::in_name(self, start, of, byte),
                Lex::Choice { .. } | Lex::Number { .. } => false,
            },
        }
    }

    fn prepare(&mut self) {
        if matches!(self.place.lex, Lex::Choice { .. }) {
            self.choices();
        }
    }

    fn may_end(&mut self) -> bool {
        self.place.next == Next::End
    }

    fn session(&self) -> usize {
        from_ref(self.core.session).addr()
    }
}

impl Bytes for JsonMachine<'_> {
    type Lex = Lex;

    fn core(&self) -> &Core<'_> {
        &self.core
    }

    fn lex(&self) -> Lex {
        self.place.lex
    }

    fn relex(&mut self, lex: Lex, length: usize) {
        self.place.lex = lex;
        self.text.truncate(length);
    }

    fn look(&mut self, byte: u8) -> Look {
        match self.leads(byte) {
            Leads::Nowhere => Look::Refused,
            Leads::On(lex) => {
                self.text.push(byte);
                self.place.lex = lex;
                Look::On
            }
            Leads::Act(_) | Leads::Unknown => Look::Unknown,
        }
    }

    fn next_byte(&self, byte: u8) -> Option<u8> {
        match self.place.lex {
            Lex::Number { .. } => IN_NUMBERS.into_iter().find(|&next| next > byte),
            _ => byte.checked_add(1),
        }
    }

    fn walk(&mut self) -> &mut Walk<Lex, JsonPoint> {
        &mut self.walk
    }

    fn within(
        &mut self,
        tree: &Tree<'_, '_>,
        children: (u32, u32),
        start: usize,
        found: &mut Found,
    ) -> Option<usize> {
        let Lex::Choice { low, high, depth } = self.place.lex else { return None };
        // The choices began `depth` bytes before this position.
        let before = (self.text.len() - start).wrapping_sub(depth);
        let view = self.choices();
        let high = high.min(view.len());
        let first = Common { node: Prefixes::ROOT, low, high, depth };
        tree.within(view, children, first, before, found);
        Some(depth)
    }

    fn take_choice(&mut self, choice: usize, depth: usize) -> bool {
        self.choices();
        let Some(choices) = &self.place.choices else { return false };
        let view = View::new(choices, self.core.session);
        let Some((bytes, act)) = view.at(choice) else { return false };
        self.text.extend_from_slice(bytes.as_bytes().get(depth..).unwrap_or_default());
        self.take(act)
    }

    fn inside(&self) -> Option<Inside> {
        match self.place.lex {
            Lex::Text { inside, .. } | Lex::Bare { inside, .. } => Some(inside),
            _ => None,
        }
    }

    fn end_any_text(&mut self) {
        self.place.is_guess = true;
        self.take_constant(Literal::Text(""));
    }

    fn meets_more(&self, key: &str) -> bool {
        let pairs = matches!(self.around(), Some(Around::Cases { pairs: true, .. }));
        key == "_"
            || key == word_of(Notation::Constrained, Key::Default)
            || (!pairs && number::parse(key).is_ok())
    }
}
