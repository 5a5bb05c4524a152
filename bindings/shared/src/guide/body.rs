//! A body that is being written, in ID text or in `constrained`.

use ilo_guide::{
    ConstrainedGuide, ConstrainedMark, Guide, Lacks, Mark, Node, Refused, Session, Short, Vocab,
};

/// The guide of a body.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there are few, and each is in a box of its own")]
pub(super) enum Body<'a> {
    Id(Guide<'a>),
    Constrained(ConstrainedGuide<'a>),
}

/// A position to return to.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Id(Mark),
    Constrained(ConstrainedMark),
}

/// Applies an operation to either guide.
macro_rules! with {
    ($body:expr, $guide:ident => $work:expr) => {
        match $body {
            Body::Id($guide) => $work,
            Body::Constrained($guide) => $work,
        }
    };
}

/// What may come next. A token of JSON is in marks that separate it from the words around it.
fn shown(node: &Node) -> String {
    match node {
        Node::Bytes(bytes) => format!("`{bytes}`"),
        other => other.to_string(),
    }
}

impl<'a> Body<'a> {
    pub(super) fn new(session: &'a Session<'a>, constrained: bool) -> Body<'a> {
        if constrained {
            Body::Constrained(ConstrainedGuide::new(session))
        } else {
            Body::Id(Guide::new(session))
        }
    }

    pub(super) fn mark(&self) -> Place {
        match self {
            Body::Id(guide) => Place::Id(guide.mark()),
            Body::Constrained(guide) => Place::Constrained(guide.mark()),
        }
    }

    pub(super) fn rollback(&mut self, mark: &Place) {
        match (self, mark) {
            (Body::Id(guide), Place::Id(mark)) => guide.rollback(mark),
            (Body::Constrained(guide), Place::Constrained(mark)) => guide.rollback(mark),
            // The mark belongs to the same body.
            (Body::Id(_), Place::Constrained(_)) | (Body::Constrained(_), Place::Id(_)) => {}
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        with!(self, guide => guide.text())
    }

    pub(super) fn may_end(&mut self) -> bool {
        with!(self, guide => guide.may_end())
    }

    pub(super) fn memory(&self) -> usize {
        with!(self, guide => guide.memory())
    }

    pub(super) fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refused> {
        with!(self, guide => guide.accept(vocab, token))
    }

    pub(super) fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        with!(self, guide => guide.accept_bytes(bytes))
    }

    pub(super) fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize {
        with!(self, guide => guide.validate(vocab, tokens))
    }

    pub(super) fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        with!(self, guide => guide.can_write(vocab))
    }

    pub(super) fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        with!(self, guide => guide.fill_mask(vocab, left, bits))
    }

    pub(super) fn forced(&mut self) -> Vec<u8> {
        with!(self, guide => guide.forced())
    }

    pub(super) fn forced_tokens(&mut self, vocab: &Vocab, cut: Option<Vec<u32>>) -> Vec<u32> {
        with!(self, guide => guide.forced_tokens(vocab, |bytes| cut.or_else(|| vocab.cut(bytes))))
    }

    pub(super) fn close(&mut self) -> Option<Vec<u8>> {
        with!(self, guide => guide.close())
    }

    pub(super) fn next_json(&mut self) -> String {
        with!(self, guide => guide.next_json())
    }

    /// The choices that may come next, for people.
    pub(super) fn next(&mut self) -> Vec<String> {
        with!(self, guide => guide.next()).iter().map(shown).collect()
    }

    pub(super) fn next_bytes(&mut self) -> Vec<u8> {
        with!(self, guide => guide.next_bytes())
    }

    pub(super) fn finish(&mut self) -> Result<String, Refused> {
        with!(self, guide => guide.finish())
    }
}
