//! What the state of a question is bound to: the subject, the tool and the arguments of the call that asks.
//!
//! A client sends the state back with the answers of a person. Without this, the state of one call, from a
//! log for example, would decide in another.

use super::sender::Subject;
use crate::json::outside;
use ilo_drive::data::write::hex;
use sha2::{Digest as _, Sha256};

/// The call to which a question belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    subject: Option<Subject>,
    call: [u8; 32],
}

impl Bound {
    /// The call of a tool with arguments as JSON. Blanks outside of texts do not count.
    pub(super) fn new(subject: Option<&Subject>, tool: &str, arguments: &[u8]) -> Bound {
        let mut hash = Sha256::new();
        hash.update((tool.len() as u64).to_le_bytes());
        hash.update(tool.as_bytes());
        let mut from = 0;
        for (at, _) in outside(arguments).filter(|(_, byte)| byte.is_ascii_whitespace()) {
            hash.update(arguments.get(from..at).unwrap_or_default());
            from = at + 1;
        }
        hash.update(arguments.get(from..).unwrap_or_default());
        Bound { subject: subject.cloned(), call: hash.finalize().into() }
    }

    /// The same as a text, of which a journal makes a seal.
    pub(super) fn text(&self) -> String {
        format!("state {:?} {}", self.subject, hex(&self.call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_bound_to_subject_tool_and_arguments() {
        let subject = |sub: &str, client: &str| Subject {
            issuer: "https://a.example".into(),
            sub: Some(sub.to_owned()),
            client: Some(client.to_owned()),
        };
        let ada = subject("ada", "c");
        let own = Bound::new(Some(&ada), "f", br#"{"a": "x y", "b": 1}"#);
        assert_eq!(own, Bound::new(Some(&ada), "f", b"{\"a\":\"x y\",\n\"b\":1}"));
        for other in [
            Bound::new(None, "f", br#"{"a":"x y","b":1}"#),
            Bound::new(Some(&subject("eve", "c")), "f", br#"{"a":"x y","b":1}"#),
            Bound::new(Some(&subject("ada", "d")), "f", br#"{"a":"x y","b":1}"#),
            Bound::new(Some(&ada), "g", br#"{"a":"x y","b":1}"#),
            Bound::new(Some(&ada), "f", br#"{"a":"xy","b":1}"#),
            Bound::new(Some(&ada), "f", br#"{"a":"x y","b":2}"#),
        ] {
            assert_ne!(own, other);
            assert_ne!(own.text(), other.text());
        }
    }
}
