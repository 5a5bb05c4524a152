//! JSON to values, strictly: RFC 8259 and no more, no key twice, every number exact.
//!
//! A loop over a pull parser; bounds on size, depth and count are kept while reading, so hostile text costs
//! no more than its bounds. It reads one value from bytes in memory, and opens no file.

use super::{Data, Fields, Items};
use ilo_spec::limits;
use ilo_spec::number::{self, NumberError};
use ilo_vm::Limits;
use jiter::{Jiter, JiterError, Peek};
use std::fmt;

/// The bounds of a value that is read.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of the text.
    pub bytes: usize,
    /// Nesting of lists and records.
    pub depth: usize,
    /// Values in total.
    pub values: usize,
}

impl Default for Bounds {
    /// The bounds of one tool result.
    fn default() -> Bounds {
        Bounds {
            bytes: limits::DEFAULT_RESULT,
            depth: limits::DEFAULT_VALUE_DEPTH,
            values: limits::DEFAULT_RESULT_NODES,
        }
    }
}

/// The place and the reason of an error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The offset in bytes.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The reason.
    pub kind: ReadErrorKind,
}

/// The reason why a text is not a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// Not JSON, with what was expected.
    Syntax(String),
    /// Not UTF-8.
    NotUtf8,
    /// Something after the value.
    Trailing,
    /// A record with a key given twice.
    DuplicateKey(String),
    /// An integer beyond 64 bits, or a number that is not finite.
    Number(String, NumberError),
    /// More bytes than allowed.
    Bytes(usize),
    /// Deeper than allowed.
    Depth(usize),
    /// More values than allowed.
    Values(usize),
}

impl From<&Limits> for Bounds {
    /// The bounds of an answer to a call of a run with these limits.
    fn from(run: &Limits) -> Bounds {
        let depth = run.value_depth.min(limits::VALUE_DEPTH);
        Bounds { bytes: run.result_bytes, depth, values: run.result_nodes }
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadErrorKind::Syntax(why) => f.write_str(why),
            ReadErrorKind::NotUtf8 => f.write_str("bytes that are not UTF-8"),
            ReadErrorKind::Trailing => f.write_str("expected one value, found more text after it"),
            ReadErrorKind::DuplicateKey(key) => write!(f, "a record with the key `{key}` twice"),
            ReadErrorKind::Number(text, NumberError::Beyond64Bits) => {
                write!(f, "the integer {text} does not fit 64 bits; write it as text, or with a point")
            }
            ReadErrorKind::Number(text, NumberError::NotFinite) => {
                write!(f, "the number {text} is beyond a double")
            }
            ReadErrorKind::Number(text, NumberError::Form) => write!(f, "{text} is not a JSON number"),
            ReadErrorKind::Bytes(limit) => write!(f, "more than {limit} bytes"),
            ReadErrorKind::Depth(limit) => write!(f, "nested deeper than {limit}"),
            ReadErrorKind::Values(limit) => write!(f, "more than {limit} values"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

impl std::error::Error for ReadError {}

/// Line and column, from 1, of a byte.
pub fn line_column(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let column = before.iter().skip(line_start).filter(|&&byte| byte & 0xc0 != 0x80).count() + 1;
    (before.split(|&b| b == b'\n').count(), column)
}

/// A list or record whose end was not reached.
enum Growing {
    List(Vec<Data>),
    Record { start: usize, fields: Vec<(String, Data)>, key: String },
}

struct Reader<'b> {
    json: Jiter<'b>,
    bounds: &'b Bounds,
    open: Vec<Growing>,
    left: usize,
}

type Failed = (usize, ReadErrorKind);

fn syntax(error: &JiterError) -> Failed {
    (error.index, ReadErrorKind::Syntax(error.error_type.to_string()))
}

/// Reads a value of a machine from JSON, such as the arguments that it wrote: the depth is that of its
/// values.
///
/// # Errors
/// A text that is no such value.
pub fn data_of(json: &str) -> Result<Data, ReadError> {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.as_bytes(), &bounds)
}

/// Reads one value.
///
/// # Errors
/// The first place where the text is not a value, or exceeds a bound.
pub fn read(bytes: &[u8], bounds: &Bounds) -> Result<Data, ReadError> {
    let result = if bytes.len() > bounds.bytes {
        Err((bounds.bytes, ReadErrorKind::Bytes(bounds.bytes)))
    } else if let Err(error) = std::str::from_utf8(bytes) {
        Err((error.valid_up_to(), ReadErrorKind::NotUtf8))
    } else {
        Reader { json: Jiter::new(bytes), bounds, open: Vec::new(), left: bounds.values }.value()
    };
    result.map_err(|(offset, kind)| {
        let (line, column) = line_column(bytes, offset);
        ReadError { offset, line, column, kind }
    })
}

impl Reader<'_> {
    fn value(mut self) -> Result<Data, Failed> {
        let mut peek = self.json.peek().map_err(|e| syntax(&e))?;
        loop {
            self.left = self
                .left
                .checked_sub(1)
                .ok_or((self.json.current_index(), ReadErrorKind::Values(self.bounds.values)))?;
            match self.begin(peek)? {
                Begun::Inside(next) => peek = next,
                Begun::Whole(value) => match self.place(value)? {
                    Placed::Next(next) => peek = next,
                    Placed::Last(value) => return Ok(value),
                },
            }
        }
    }

    /// Reads a scalar or an empty container, or opens a container.
    fn begin(&mut self, peek: Peek) -> Result<Begun, Failed> {
        let start = self.json.current_index();
        Ok(Begun::Whole(match peek {
            Peek::Null => self.word(peek, Data::Nil)?,
            Peek::True => self.word(peek, Data::Bool(true))?,
            Peek::False => self.word(peek, Data::Bool(false))?,
            Peek::String => self.json.known_str().map(Data::from).map_err(|e| syntax(&e))?,
            Peek::Array | Peek::Object if self.open.len() >= self.bounds.depth => {
                return Err((start, ReadErrorKind::Depth(self.bounds.depth)));
            }
            Peek::Array => match self.json.known_array().map_err(|e| syntax(&e))? {
                Some(first) => {
                    self.open.push(Growing::List(Vec::new()));
                    return Ok(Begun::Inside(first));
                }
                None => Data::List(Items::new()),
            },
            Peek::Object => match self.json.known_object().map_err(|e| syntax(&e))?.map(str::to_owned) {
                Some(key) => {
                    self.open.push(Growing::Record { start, fields: Vec::new(), key });
                    return self.json.peek().map(Begun::Inside).map_err(|e| syntax(&e));
                }
                None => Data::Record(Fields::new()),
            },
            _ if peek.is_num() => self.number(peek, start)?,
            _ => return Err((start, ReadErrorKind::Syntax("expected a value".to_owned()))),
        }))
    }

    /// Reads one of the words whose value its first letter says. Passing over words and numbers takes one
    /// function of the parser, in place of one for each kind, which a module for a browser would all have.
    fn word(&mut self, peek: Peek, value: Data) -> Result<Data, Failed> {
        self.json.known_skip(peek).map(|()| value).map_err(|e| syntax(&e))
    }

    fn number(&mut self, peek: Peek, start: usize) -> Result<Data, Failed> {
        self.json.known_skip(peek).map_err(|e| syntax(&e))?;
        let text = std::str::from_utf8(self.json.slice_to_current(start)).unwrap_or_default();
        number::parse(text).map(Data::Number).map_err(|why| {
            let shown = crate::problem::shortened(text, 40);
            (start, ReadErrorKind::Number(shown, why))
        })
    }

    /// Adds a value to the innermost open container, and closes every container that ends after it.
    fn place(&mut self, mut value: Data) -> Result<Placed, Failed> {
        loop {
            let next = match self.open.last_mut() {
                None => {
                    let end = self.json.current_index();
                    self.json.finish().map_err(|_| (end, ReadErrorKind::Trailing))?;
                    return Ok(Placed::Last(value));
                }
                Some(Growing::List(items)) => {
                    items.push(value);
                    self.json.array_step().map_err(|e| syntax(&e))?
                }
                Some(Growing::Record { fields, key, .. }) => {
                    fields.push((std::mem::take(key), value));
                    match self.json.next_key().map_err(|e| syntax(&e))? {
                        Some(name) => {
                            name.clone_into(key);
                            Some(self.json.peek().map_err(|e| syntax(&e))?)
                        }
                        None => None,
                    }
                }
            };
            if let Some(next) = next {
                return Ok(Placed::Next(next));
            }
            value = match self.open.pop() {
                Some(Growing::List(items)) => Data::List(items.into()),
                Some(Growing::Record { start, fields, .. }) => match repeated(&fields) {
                    Some(key) => return Err((start, ReadErrorKind::DuplicateKey(key.to_owned()))),
                    None => Data::Record(fields.into()),
                },
                None => Data::Nil,
            };
        }
    }
}

enum Begun {
    Whole(Data),
    Inside(Peek),
}

enum Placed {
    Next(Peek),
    Last(Data),
}

/// A name that occurs twice among the fields.
pub fn repeated(fields: &[(String, Data)]) -> Option<&str> {
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).find_map(|pair| match pair {
        [a, b] if a == b => Some(*a),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &[u8]) -> ReadErrorKind {
        read(text, &Bounds::default()).unwrap_err().kind
    }

    fn again(text: &str) -> String {
        read(text.as_bytes(), &Bounds::default()).unwrap().to_json()
    }

    #[test]
    fn what_is_read_is_written_back() {
        for text in [
            "null",
            "true",
            "9007199254740993",
            "-9223372036854775808",
            "-0.0",
            "1.5",
            "1e16",
            r#""a\"\\\n\u0001é😀""#,
            "[]",
            "{}",
            r#"{"b":1,"a":[{},[],{"x":null}],"":2}"#,
        ] {
            assert_eq!(again(text), text);
        }
        assert_eq!(again(" [ 1 , -0 ,1E2, \"\\ud83d\\ude00\" ] \n"), "[1,-0.0,100.0,\"😀\"]");
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "nul",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "'a'",
            "01",
            "+1",
            "1.",
            ".5",
            "NaN",
            "Infinity",
            "-Infinity",
            "\"a",
            "\"\u{1}\"",
            r#""\x""#,
            r#""\ud800""#,
            r#""\udc00\ud800""#,
            "[1",
            "{\"a\"}",
            "// c\n1",
            "\u{feff}1",
        ] {
            assert!(
                matches!(kind(text.as_bytes()), ReadErrorKind::Syntax(_) | ReadErrorKind::Number(..)),
                "{text}"
            );
        }
        assert_eq!(kind(b"1 2"), ReadErrorKind::Trailing);
        assert_eq!(kind(b"\"\xff\""), ReadErrorKind::NotUtf8);
        assert_eq!(kind(br#"{"a":1,"b":2,"\u0061":3}"#), ReadErrorKind::DuplicateKey("a".into()));
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let beyond = |n: &str| ReadErrorKind::Number(n.into(), NumberError::Beyond64Bits);
        assert_eq!(kind(b"[18446744073709551616]"), beyond("18446744073709551616"));
        assert_eq!(kind(b"9223372036854775808"), beyond("9223372036854775808"));
        assert_eq!(kind(b"1e999"), ReadErrorKind::Number("1e999".into(), NumberError::NotFinite));
    }

    #[test]
    fn bounds_hold_at_n_and_not_at_n_plus_1() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        let bounds = Bounds { bytes: 2_000_000, depth: 3, values: 3 };
        assert!(read(nested(3).as_bytes(), &bounds).is_ok());
        let error = read(nested(4).as_bytes(), &Bounds { values: 9, ..bounds }).unwrap_err();
        assert_eq!((error.offset, error.kind), (3, ReadErrorKind::Depth(3)));
        assert_eq!(kind(nested(1_000_000).as_bytes()), ReadErrorKind::Depth(limits::DEFAULT_VALUE_DEPTH));
        assert!(read(b"[1,2]", &bounds).is_ok());
        assert_eq!(read(b"[1,2,3]", &bounds).unwrap_err().kind, ReadErrorKind::Values(3));
        assert!(read(b"123", &Bounds { bytes: 3, ..bounds }).is_ok());
        assert_eq!(read(b"1234", &Bounds { bytes: 3, ..bounds }).unwrap_err().kind, ReadErrorKind::Bytes(3));
    }

    /// A value that was read is written so that it reads back as the same value. Every other text gives an
    /// error with a place inside the text.
    #[test]
    fn changed_text_is_refused_or_means_what_it_says() {
        let text = br#"{"a":[1,-0,2.5e3,"x\u00e9\n",true,null],"b":{"c":{},"":[[]]}}"#;
        let mut read_some = 0;
        for at in 0..text.len() {
            for byte in (0..=127).chain([0xc3, 0xff]) {
                let mut changed = text.to_vec();
                changed[at] = byte;
                for candidate in [&changed[..], &changed[..=at]] {
                    match read(candidate, &Bounds::default()) {
                        Ok(data) => {
                            read_some += 1;
                            assert_eq!(again(&data.to_json()), data.to_json());
                        }
                        Err(error) => assert!(error.offset <= candidate.len()),
                    }
                }
            }
        }
        assert!(read_some > text.len(), "at least each unchanged byte");
    }

    #[test]
    fn an_error_has_a_place() {
        let error = read(b"{\n \"a\": x}", &Bounds::default()).unwrap_err();
        assert_eq!((error.line, error.column), (2, 7));
    }
}
