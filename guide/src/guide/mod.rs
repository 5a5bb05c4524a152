//! The guide of a body in ID text: the automaton, driven by its bytes. `lex` has the bytes, `close` the known
//! end, `mask` the tokens, `surface` what ends have in common.

mod close;
mod lex;
mod mask;
mod surface;

use crate::automaton::registries::split;
use crate::automaton::session::{Options, Session, SessionError, printed};
use crate::automaton::state::Core;
use crate::body::{Body, BodyMark};
use crate::surface::Steps;
use crate::tokens::Refused;
use ilo_asm::catalog::Catalog;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;
use lex::{LineMachine, LinePoint};
use std::collections::HashSet;

/// An unfinished body in ID text, which follows [`Session::prefix`]. A clone continues independently.
pub type Guide<'s> = Body<LineMachine<'s>>;

/// A position of a [`Guide`] to return to.
pub type Mark = BodyMark<LinePoint>;

impl<'s> Guide<'s> {
    /// Begins the body.
    pub fn new(session: &'s Session<'_>) -> Guide<'s> {
        Body::of(LineMachine::new(Core::new(session)))
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

impl<'c> Session<'c> {
    /// The same as [`Session::new`], where a guide follows each function above in place of the check. It
    /// refuses whatever the check refuses, and what guides do not write; a program that calls only this has
    /// no checker in it.
    ///
    /// # Errors
    /// As those of [`Session::new`], and where a function above is not one that a guide could have written.
    pub fn following(
        catalog: &'c Catalog,
        signature: &str,
        options: &Options,
    ) -> Result<Session<'c>, SessionError> {
        let wrong = |what: String| SessionError(format!("in the functions above: {what}"));
        let above = match options.above.trim() {
            "" => String::new(),
            above => printed(above, Notation::Id).map_err(|error| wrong(error.0))?,
        };
        let ends = above.match_indices("\n; fn ").map(|it| it.0 + 1).chain([above.len()]);
        for written in ends.filter_map(|end| above.get(..end)).filter(|it| !it.is_empty()) {
            let parts = split(written);
            let header = parts.header.unwrap_or_default();
            let session = Session::begin(catalog, header, &parts.options, &|_, _| {})?;
            let mut guide = Guide::new(&session);
            let body = written.get(parts.body..).unwrap_or_default().trim_end();
            if let Err(Refused { at }) = guide.accept_bytes(body.as_bytes()) {
                let line = body.get(..at).unwrap_or_default().matches('\n').count();
                let line = body.lines().nth(line).unwrap_or_default();
                return Err(wrong(format!("no guide writes `{line}` in `{header}`")));
            }
            if !guide.may_end() {
                return Err(wrong(format!("`{header}` has no end")));
            }
        }
        Session::begin(catalog, signature, options, &|_, _| {})
    }
}
