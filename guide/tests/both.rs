//! What both guides can do, and a program in each notation, for tests that try the same with each.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "tests use it, and may panic"
)]

use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::diagnostic::Diagnostic;
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, ConstrainedMark, Guide, Mark, Options, Refused, Session, Short, Vocab};
use serde_json::json;

pub trait Follow: Clone {
    type Mark;
    fn mark(&self) -> Self::Mark;
    fn rollback(&mut self, mark: &Self::Mark);
    fn text(&self) -> &[u8];
    fn memory(&self) -> usize;
    /// Whether the program may end here.
    fn ends(&mut self) -> bool;
    fn next_bytes(&mut self) -> Vec<u8>;
    fn close(&mut self) -> Option<Vec<u8>>;
    fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused>;
    fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refused>;
    fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize;
    fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short>;
    /// Builds the file. Returns its first error.
    fn check(&mut self, catalog: &Catalog) -> Result<(), String>;
}

macro_rules! follow {
    ($guide:ident, $mark:ty, $notation:expr) => {
        impl Follow for $guide<'_> {
            type Mark = $mark;
            fn mark(&self) -> $mark {
                $guide::mark(self)
            }
            fn rollback(&mut self, mark: &$mark) {
                $guide::rollback(self, mark);
            }
            fn text(&self) -> &[u8] {
                $guide::text(self)
            }
            fn memory(&self) -> usize {
                $guide::memory(self)
            }
            fn ends(&mut self) -> bool {
                $guide::may_end(self)
            }
            fn next_bytes(&mut self) -> Vec<u8> {
                $guide::next_bytes(self)
            }
            fn close(&mut self) -> Option<Vec<u8>> {
                $guide::close(self)
            }
            fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
                $guide::accept_bytes(self, bytes)
            }
            fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refused> {
                $guide::accept(self, vocab, token)
            }
            fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize {
                $guide::validate(self, vocab, tokens)
            }
            fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
                $guide::fill_mask(self, vocab, left, bits)
            }
            fn check(&mut self, catalog: &Catalog) -> Result<(), String> {
                let file = self.finish().map_err(|error| error.to_string())?;
                let options = Build { from: Some($notation), catalog: Some(catalog), ..Build::default() };
                let (_, found) = compile(&file, &options);
                let error = found.as_slice().iter().find(|found| found.is_error());
                let shown =
                    |error: &Diagnostic| format!("{}: {}\n{file}", error.code.as_str(), error.message);
                error.map_or(Ok(()), |error| Err(shown(error)))
            }
        }
    };
}

follow!(Guide, Mark, Notation::Id);
follow!(ConstrainedGuide, ConstrainedMark, Notation::Constrained);

/// A body in each notation.
pub const ID: &str = "LET 1 CALL 0 1 0 REF 0\nRET CONCAT REF 0 LIT 0 \"größe 😀\"";
pub const CONSTRAINED: &str =
    r#"{"let":"user","call":"tool-ü","args":{"id":"id"}},{"ret":"${id} größe 😀"}]}"#;

pub fn catalog() -> Catalog {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("tool-ü", None, Some(&input), None));
    catalog
}

pub fn session(catalog: &Catalog) -> Session<'_> {
    Session::new(catalog, "f(id: text) -> text", &Options::default()).unwrap()
}

pub fn has(bits: &[u32], token: usize) -> bool {
    bits[token / 32] >> (token % 32) & 1 == 1
}

/// The tokens of a mask.
pub fn allowed(bits: &[u32]) -> Vec<usize> {
    (0..32 * bits.len()).filter(|&token| has(bits, token)).collect()
}

/// All bytes alone, after a token that ends a text.
pub fn bytes() -> Vec<Vec<u8>> {
    [Vec::new()].into_iter().chain((0..=u8::MAX).map(|byte| vec![byte])).collect()
}

/// Runs a check for both guides, with a body that each can take.
macro_rules! for_both {
    ($session:expr, $check:expr) => {
        $check(&mut ilo_guide::Guide::new($session), crate::both::ID);
        $check(&mut ilo_guide::ConstrainedGuide::new($session), crate::both::CONSTRAINED);
    };
}

pub(crate) use for_both;

fn ends(guide: &mut impl Follow, body: &str, catalog: &Catalog) {
    guide.accept_bytes(body.as_bytes()).unwrap_or_else(|error| panic!("{body} at {}", error.at));
    guide.check(catalog).unwrap();
}

#[test]
fn cases_of_nil_and_of_the_empty_text_differ_and_equal_numbers_do_not() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(x: any) -> any", &Options::default()).unwrap();
    let id = "RET MATCH_MAP REF 0 4 nil LIT 1 1 \"\" LIT 1 2 5 LIT 1 3 ";
    ends(&mut Guide::new(&session), &format!("{id}5.5 LIT 1 4"), &catalog);
    let constrained = r#"{"ret":{"match":"x","cases":[[null,1],["",2],[5,3],["#;
    ends(&mut ConstrainedGuide::new(&session), &format!("{constrained}5.5,4]]}}}}]}}"), &catalog);
    assert!(Guide::new(&session).accept_bytes(format!("{id}5.0 ").as_bytes()).is_err());
    assert!(ConstrainedGuide::new(&session).accept_bytes(format!("{constrained}5.0,").as_bytes()).is_err());
}
