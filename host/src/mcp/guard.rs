//! Checks each message in bounded memory before the protocol's library reads it.
//!
//! The library drops a message that is too long or too deep, and reads an integer that is too large as a
//! double; a call would wait for its answer in vain, or get another number. Here such an answer becomes an
//! error answer to the same call.

use crate::data::inexact_numbers::perhaps_rounded;
use crate::tool::Failure;
use ilo_spec::error::Code;
use rmcp::model::{ErrorCode, ErrorData, ServerJsonRpcMessage, ServerResult};
use serde_json::Value;

/// Bytes of one message.
pub(super) const MESSAGE: usize = 16 << 20;
/// Lists and records within each other in one message: the library's JSON reader takes no more.
const DEPTH: usize = 127;
/// What of these a message has around the value of an answer: itself, its result, and the name of the
/// content.
const AROUND: usize = 2;
/// Bytes that are kept of a name or number: no name that is looked for and no integer of 64 bits is longer.
const KEPT: usize = 64;

/// The codes of the errors that replace such answers; no other error of a server has them.
const TOO_LONG: i32 = -31_001;
const TOO_DEEP: i32 = -31_002;
const TOO_LARGE_NUMBER: i32 = -31_003;

/// The meaning of an error answer that was made here.
pub(super) fn failure(error: &ErrorData) -> Option<Failure> {
    match error.code.0 {
        TOO_LONG => {
            let message = format!("the tool's answer has more than {MESSAGE} bytes");
            Some(Failure::Limit(Code::FaultTooLarge, message))
        }
        TOO_DEEP => {
            let message = format!("the tool's answer is nested more than {} deep", DEPTH - AROUND);
            Some(Failure::Limit(Code::FaultDepth, message))
        }
        TOO_LARGE_NUMBER => Some(Failure::text(format!("the tool's answer: {}", error.message))),
        _ => None,
    }
}

/// A message that the library has read, as it may pass on.
pub(super) fn read(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    let ServerJsonRpcMessage::Response(response) = &message else { return message };
    let ServerResult::CallToolResult(result) = &response.result else { return message };
    let Some(large) = result.structured_content.as_ref().and_then(perhaps_rounded) else { return message };
    let message = format!(
        "{large:e} may have been an integer that does not fit 64 bits, which an answer as plain JSON over HTTP does not \
         show; have the server write it as a text"
    );
    let error = ErrorData::new(ErrorCode(TOO_LARGE_NUMBER), message, None);
    ServerJsonRpcMessage::error(error, Some(response.id.clone()))
}

/// A whole message as it may pass on.
pub(super) fn passed(message: String) -> String {
    let mut scan = Scan::default();
    scan.feed(message.as_bytes());
    match scan.verdict() {
        Verdict::Passes => message,
        Verdict::AnswersNobody => "{}".to_owned(),
        Verdict::Instead(error) => error,
    }
}

/// What becomes of a message.
enum Verdict {
    Passes,
    /// It must not pass, and nobody waits for it.
    AnswersNobody,
    /// This passes instead.
    Instead(String),
}

/// Where in a message a byte is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Outside,
    /// In a text.
    Text,
    /// In a text, behind a backslash.
    Escaped,
}

/// Messages, a line each, as they may pass on.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    scan: Scan,
    /// Whether this line has been answered for, and what is left of it is dropped.
    answered: bool,
}

impl Lines {
    /// Takes bytes; gives those that pass on.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            if !self.answered {
                self.scan.feed(part);
                if self.scan.length > MESSAGE {
                    self.line = Vec::new();
                    self.answered = self.answer(out);
                } else {
                    self.line.extend_from_slice(part);
                }
            }
            if part.ends_with(b"\n") {
                if !self.answered && !self.answer(out) {
                    out.append(&mut self.line);
                }
                *self = Lines::default();
            }
        }
    }

    /// Puts an error in the place of a message that must not pass; whether the message is done with.
    fn answer(&mut self, out: &mut Vec<u8>) -> bool {
        match self.scan.verdict() {
            Verdict::Passes => false,
            // It may say yet whom it answers.
            Verdict::AnswersNobody => self.scan.ended,
            Verdict::Instead(error) => {
                out.extend_from_slice(error.as_bytes());
                out.push(b'\n');
                true
            }
        }
    }
}

/// What is known of a message from its bytes so far.
#[derive(Default)]
struct Scan {
    length: usize,
    depth: usize,
    deepest: usize,
    place: Place,
    /// Whether its line or whole has ended.
    ended: bool,
    /// The text that was read last, a name perhaps, and the name at depth 1 and 2 whose value is being read.
    text: Vec<u8>,
    names: [Vec<u8>; 2],
    /// The value of `id`.
    id: Vec<u8>,
    number: Vec<u8>,
    large: Option<String>,
    is_request: bool,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        bytes.iter().for_each(|&byte| self.byte(byte));
        self.ended = bytes.ends_with(b"\n");
    }

    fn byte(&mut self, byte: u8) {
        let names_id = self.depth == 1 && self.names[0] == b"id" && self.id.len() <= KEPT;
        if names_id
            && (self.place != Place::Outside || !matches!(byte, b',' | b'}' | b' ' | b'\r' | b'\n' | b'\t'))
        {
            self.id.push(byte);
        }
        if self.place != Place::Outside {
            match byte {
                _ if self.place == Place::Escaped => self.place = Place::Text,
                b'\\' => self.place = Place::Escaped,
                b'"' => self.place = Place::Outside,
                _ if self.text.len() < KEPT => self.text.push(byte),
                _ => {}
            }
            return;
        }
        if matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            if self.number.len() < KEPT {
                self.number.push(byte);
            }
            return;
        }
        self.end_number();
        match byte {
            b'"' => {
                self.place = Place::Text;
                self.text.clear();
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' => {
                if let Some(name) = self.depth.checked_sub(1).and_then(|at| self.names.get_mut(at)) {
                    name.clone_from(&self.text);
                    self.is_request |= self.depth == 1 && self.text == b"method";
                }
            }
            b',' => {
                if let Some(name) = self.depth.checked_sub(1).and_then(|at| self.names.get_mut(at)) {
                    name.clear();
                }
            }
            _ => {}
        }
    }

    /// Looks at a number that has ended: an integer of a result's own value must fit.
    fn end_number(&mut self) {
        if self.number.is_empty() {
            return;
        }
        let own = self.names[0] == b"result" && self.names[1] == b"structuredContent" && self.depth >= 2;
        let is_whole = self.number.iter().all(|&byte| byte.is_ascii_digit() || byte == b'-');
        if own && is_whole && self.large.is_none() {
            let text = String::from_utf8_lossy(&self.number);
            // What fits 64 bits, or nearly, is judged where the answer is read.
            if text.parse::<i64>().is_err() && text.parse::<u64>().is_err() {
                let more = if self.number.len() < KEPT { "" } else { "…" };
                self.large = Some(format!("{text}{more}"));
            }
        }
        self.number.clear();
    }

    /// What becomes of the message, as far as it is known.
    fn verdict(&self) -> Verdict {
        let (code, message) = if self.length > MESSAGE {
            (TOO_LONG, format!("an answer of more than {MESSAGE} bytes"))
        } else if self.deepest > DEPTH {
            (TOO_DEEP, format!("an answer nested more than {DEPTH} deep"))
        } else if let Some(number) = &self.large {
            (TOO_LARGE_NUMBER, format!("{number} does not fit 64 bits"))
        } else {
            return Verdict::Passes;
        };
        let id: Option<Value> = serde_json::from_slice(&self.id).ok();
        match id.filter(|id| !self.is_request && (id.is_string() || id.is_number())) {
            None => Verdict::AnswersNobody,
            Some(id) => {
                let error = serde_json::json!({"code": code, "message": message});
                Verdict::Instead(serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        parts.iter().for_each(|part| lines.feed(part, &mut out));
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    fn code(line: &str) -> i32 {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["id"], 7, "{line}");
        value["error"]["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(0)
    }

    #[test]
    fn messages_pass_as_they_are_however_they_are_cut() {
        let text = b"{\"id\":7,\"result\":{\"structuredContent\":{\"n\":18446744073709551615}}}\nnoise\n\n{\"x\":\"\\\"}\"}\n";
        for at in 0..text.len() {
            let (a, b) = text.split_at(at);
            assert_eq!(lines(&[a, b]).join("\n").as_bytes(), text.strip_suffix(b"\n").unwrap());
        }
    }

    #[test]
    fn an_integer_beyond_64_bits_is_an_error_in_the_value_alone() {
        for (value, passes) in [
            ("18446744073709551615", true),
            ("18446744073709551616", false),
            ("-9223372036854775808", true),
            ("-9223372036854775809", false),
            ("{\"a\":[1,18446744073709551616]}", false),
            ("\"18446744073709551616\"", true),
            ("1.8446744073709552e19", true),
            ("1e400", true),
        ] {
            let message = format!("{{\"result\":{{\"structuredContent\":{value}}},\"id\":7}}");
            let found = passed(message.clone());
            assert_eq!(found == message, passes, "{value}");
            if !passes {
                assert_eq!(code(&found), TOO_LARGE_NUMBER);
            }
        }
        let elsewhere =
            "{\"result\":{\"_meta\":{\"n\":18446744073709551616},\"content\":[]},\"id\":7}".to_owned();
        assert_eq!(passed(elsewhere.clone()), elsewhere);
    }

    #[test]
    fn a_double_that_was_an_integer_beyond_64_bits_perhaps_is_an_error() {
        for (value, passes) in [
            ("18446744073709551615", true),
            ("18446744073709551616", false),
            ("-9223372036854775808", true),
            ("-9223372036854775809", false),
            ("{\"a\":[1,18446744073709551616]}", false),
            ("\"18446744073709551616\"", true),
            ("1.8446744073709549e19", true),
            ("1e30", false),
            ("1e-30", true),
        ] {
            let text = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{\"content\":[],\"structuredContent\":{value}}}}}"
            );
            let found = serde_json::to_string(&read(serde_json::from_str(&text).unwrap())).unwrap();
            assert_eq!(found.contains("structuredContent"), passes, "{value}");
            if !passes {
                assert_eq!(code(&found), TOO_LARGE_NUMBER);
            }
        }
    }

    #[test]
    fn depth_holds_at_n_and_not_at_n_plus_1() {
        let message = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!("{{\"id\":7,\"result\":{{\"structuredContent\":{open}{close}}}}}")
        };
        let most = DEPTH - AROUND;
        assert!(serde_json::from_str::<Value>(&message(most)).is_ok(), "the library takes it");
        assert!(serde_json::from_str::<Value>(&message(most + 1)).is_err());
        assert_eq!(passed(message(most)), message(most));
        assert_eq!(code(&passed(message(most + 1))), TOO_DEEP);
        assert_eq!(code(&passed(message(1_000_000))), TOO_DEEP);
    }

    #[test]
    fn length_holds_at_n_and_not_at_n_plus_1() {
        let frame = "{\"result\":\"\",\"id\":7}\n";
        let message =
            |length: usize| frame.replace("\"\"", &format!("\"{}\"", "x".repeat(length - frame.len())));
        assert_eq!(lines(&[message(MESSAGE).as_bytes()])[0].len(), MESSAGE - 1);
        let long = message(MESSAGE + 1);
        assert_eq!(code(&lines(&[long.as_bytes(), b"{\"a\":1}\n"])[0]), TOO_LONG);
        assert_eq!(lines(&[long.as_bytes(), b"{\"a\":1}\n"]).len(), 2);
        let early = format!("{{\"id\":7,\"result\":\"{}", "x".repeat(MESSAGE));
        assert_eq!(lines(&[early.as_bytes(), early.as_bytes()]).len(), 1, "it is answered before its end");
    }

    #[test]
    fn what_answers_nobody_is_dropped() {
        let deep = "[".repeat(1_000);
        assert_eq!(lines(&[format!("{deep}\n{{}}\n").as_bytes()]), ["{}"]);
        let asks = format!("{{\"id\":7,\"method\":\"x\",\"params\":{deep}}}\n");
        assert!(lines(&[asks.as_bytes()]).is_empty());
    }
}
