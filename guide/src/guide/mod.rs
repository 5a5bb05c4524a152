//! The guide of a body in ID text: the automaton, driven by its bytes. `lex` has the bytes, `close` the known
//! end, `mask` and `digits` the tokens, `surface` what ends have in common.

mod close;
mod digits;
mod lex;
mod mask;
mod surface;

use crate::automaton::session::Session;
use crate::automaton::state::{Core, Phase};
use crate::body::{Body, BodyMark};
use crate::show::Node;
use crate::surface::Steps;
use crate::tokens::Refused;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::source::SourceLimits;
use lex::{Machine, Point};
use std::collections::HashSet;

/// An unfinished body in ID text, which follows [`Session::prefix`]. A clone continues independently.
pub type Guide<'s> = Body<Machine<'s>>;

/// A position of a [`Guide`] to return to.
pub type Mark = BodyMark<Point>;

impl<'s> Guide<'s> {
    /// Begins the body.
    pub fn new(session: &'s Session<'_>) -> Guide<'s> {
        Body::of(Machine::new(Core::new(session)))
    }

    /// The whole file: the functions above, the header, the used entries of the registries, and correct
    /// counts.
    ///
    /// # Errors
    /// If the program may not end here.
    pub fn finish(&mut self) -> Result<String, Refused> {
        if !self.may_end() {
            return Err(Refused { at: self.surface.text.len() });
        }
        // The last number may be complete, but not taken yet.
        let point = self.surface.point();
        self.surface.end_line();
        let core = &self.surface.core;
        let used = |list: u32| core.list(list).filter_map(|number| u32::try_from(number).ok()).collect();
        let (tools, fields): (HashSet<u32>, HashSet<u32>) = (used(core.state.tools), used(core.state.fields));
        let prefix = core.session.prefix_with(|it| tools.contains(&it), |it| fields.contains(&it));
        self.surface.back(&point);
        let whole = prefix + &String::from_utf8_lossy(&self.surface.text);
        let mut diagnostics = Diagnostics::default();
        Ok(format::id_text(&whole, &SourceLimits::default(), &mut diagnostics).unwrap_or(whole))
    }
}

impl Machine<'_> {
    fn list_integers(&mut self, nodes: &mut Vec<Node>) {
        let set = self.integers();
        let core = &self.core;
        for number in core.members(set) {
            nodes.push(match core.state.phase {
                Phase::Tool => Node::Tool(number, core.session.tool(number).unwrap_or_default().to_owned()),
                phase if phase.is_field() => {
                    Node::Field(number, core.session.field(number).unwrap_or_default().to_owned())
                }
                phase if phase.is_slot() => {
                    let slot = u8::try_from(number).unwrap_or_default();
                    let ty = core.arena.value(core.now().value(slot)).ty;
                    Node::Slot(number, core.session.var(number).map(str::to_owned), ty.to_string())
                }
                _ => Node::Number(number),
            });
        }
    }

    fn list_constants(&self, nodes: &mut Vec<Node>) {
        use crate::automaton::offers::{NUMBER, TEXT};
        let core = &self.core;
        if core.takes_kind(TEXT) {
            let texts = core.texts().map(|all| all.map(str::to_owned).collect());
            nodes.push(Node::Text(texts));
        }
        if core.takes_kind(NUMBER) {
            nodes.push(Node::AnyNumber);
        }
    }
}
