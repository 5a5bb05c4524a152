//! The base protocol: a message consists of headers, an empty line, and JSON of the length in the headers.

use super::message::shown;
use std::io::{self, BufRead, Read, Write};

/// The maximum size of a message, which is enough for any document of 10 MB.
pub(super) const LONGEST: usize = 64 << 20;
/// The maximum length of a header line.
const HEADER: u64 = 4 << 10;
/// The most header lines.
const HEADERS: usize = 64;

/// The result of reading.
pub(super) enum Frame {
    /// The bytes of a message.
    Message(Vec<u8>),
    /// A message of this size, which [`skip`] must pass over.
    TooLong(usize),
    /// The end of the input.
    End,
}

/// Reads a message.
///
/// # Errors
/// If the headers are malformed, so that the start of the next message is unknown.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Frame> {
    let mut length: Option<usize> = None;
    for number in 0.. {
        let mut line = Vec::new();
        if input.by_ref().take(HEADER).read_until(b'\n', &mut line)? == 0 {
            return if length.is_none() { Ok(Frame::End) } else { Err(cut(0, length)) };
        }
        let text = String::from_utf8_lossy(&line);
        if !line.ends_with(b"\n") && u64::try_from(line.len()).is_ok_and(|read| read < HEADER) {
            return Err(wrong("the input ended inside the headers of a message"));
        }
        if !line.ends_with(b"\n") || number > HEADERS {
            return Err(wrong("the headers of a message are too long"));
        }
        let text = text.trim_end();
        if text.is_empty() {
            // Empty lines between messages are skipped.
            match length {
                Some(_) => break,
                None if number == 0 => continue,
                None => return Err(wrong("a message has no `Content-Length`")),
            }
        }
        let (name, value) = text.split_once(':').ok_or_else(|| wrong("expected `Content-Length: …`"))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let Some(bytes) = digits.then(|| value.parse().unwrap_or(usize::MAX)) else {
                let value = shown(value);
                return Err(wrong(&format!(
                    "expected a number of bytes as `Content-Length`, found `{value}`"
                )));
            };
            if length.is_some_and(|before| before != bytes) {
                return Err(wrong("a message has two different `Content-Length`"));
            }
            length = Some(bytes);
        }
    }
    let length = length.unwrap_or(0);
    if length > LONGEST {
        return Ok(Frame::TooLong(length));
    }
    // Memory is allocated for what arrives, not for the promised length.
    let mut bytes = Vec::new();
    input.take(u64::try_from(length).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(Frame::Message(bytes)) } else { Err(cut(bytes.len(), Some(length))) }
}

/// Passes over the content of a message that is too long.
///
/// # Errors
/// If the input ends before it.
pub(super) fn skip(input: &mut impl BufRead, length: usize) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(u64::try_from(length).unwrap_or(u64::MAX)), &mut io::sink())?;
    let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
    if skipped == length { Ok(()) } else { Err(cut(skipped, Some(length))) }
}

fn cut(found: usize, length: Option<usize>) -> io::Error {
    let length = length.unwrap_or_default();
    wrong(&format!("the input ended inside a message: expected {length} bytes, found {found}"))
}

/// Writes a message.
pub(super) fn write(output: &mut impl Write, json: &[u8]) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", json.len())?;
    output.write_all(json)?;
    output.flush()
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            match read(&mut input) {
                Ok(Frame::Message(bytes)) => found.push(String::from_utf8(bytes).unwrap()),
                Ok(Frame::TooLong(bytes)) => {
                    found.push(format!("{bytes} too long"));
                    if let Err(error) = skip(&mut input, bytes) {
                        found.push(error.to_string());
                        return found;
                    }
                }
                Ok(Frame::End) => return found,
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }

    #[test]
    fn messages_are_read_by_their_length() {
        let two = "Content-Length: 2\r\n\r\n{}\r\ncontent-length:3\r\nContent-Type: x\r\n\r\n[1]";
        assert_eq!(frames(two.as_bytes()), ["{}", "[1]"]);
        assert_eq!(frames(b""), [""; 0]);
        let cut = "the input ended inside a message: expected 9 bytes, found";
        assert_eq!(frames(b"Content-Length: 9\r\n\r\n{}"), [format!("{cut} 2")]);
        assert_eq!(frames(b"Content-Length: 9\r\n"), [format!("{cut} 0")]);
        for lie in ["-1", "+1", "", "1.5", "0x10", "two"] {
            let expected = format!("expected a number of bytes as `Content-Length`, found `{lie}`");
            assert_eq!(frames(format!("Content-Length: {lie}\r\n\r\n{{}}").as_bytes()), [expected]);
        }
        let twice = b"Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}";
        assert_eq!(frames(twice), ["a message has two different `Content-Length`"]);
        assert_eq!(frames(b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), ["{}"]);
        assert_eq!(frames(b"X: y\r\n\r\n{}"), ["a message has no `Content-Length`"]);
        assert_eq!(frames(b"garbage\r\n"), ["expected `Content-Length: …`"]);
        assert_eq!(frames(b"Content-Le"), ["the input ended inside the headers of a message"]);
        let endless = vec![b'x'; 1 << 20];
        assert_eq!(frames(&endless), ["the headers of a message are too long"]);
        for huge in ["99999999999999", "99999999999999999999999999"] {
            let found = frames(format!("Content-Length: {huge}\r\n\r\n{{}}").as_bytes());
            assert!(found[0].ends_with("too long") && found[1].ends_with("found 2"), "{found:?}");
        }
    }

    #[test]
    fn a_message_of_the_limit_is_read_and_one_byte_more_is_passed_over() {
        let message = |bytes: usize| {
            let mut text = format!("Content-Length: {bytes}\r\n\r\n").into_bytes();
            text.resize(text.len() + bytes, b' ');
            text.extend(b"Content-Length: 2\r\n\r\n{}");
            text
        };
        assert_eq!(frames(&message(LONGEST)).last().map(String::as_str), Some("{}"));
        assert_eq!(frames(&message(LONGEST)).len(), 2);
        assert_eq!(frames(&message(LONGEST + 1)), [format!("{} too long", LONGEST + 1), "{}".to_owned()]);
    }
}
