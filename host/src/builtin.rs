//! Built-in tools: the clock, random numbers, and functions of texts. A program can call one only if the
//! tools file names it, and a mock can replace each.
//!
//! None changes anything. Those that read the clock, use random numbers or wait are never called ahead of
//! their turn.

mod texts;

use crate::tool::{Failure, Provider, Request, Source, Tool};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::data::write::hex;
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_vm::calendar::to_millisecond;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

type BuiltinWork = fn(&Request<'_>) -> Result<Data, Failure>;

/// A built-in tool.
pub(crate) struct Builtin {
    name: &'static str,
    description: &'static str,
    input: &'static str,
    output: &'static str,
    /// Whether its calls may begin before their turn.
    ahead: bool,
    work: BuiltinWork,
}

/// The `builtin` of the tool that waits.
pub(crate) const WAIT: &str = "wait";

const NOTHING: &str = r#"{"type": "object", "properties": {}, "additionalProperties": false}"#;
const TEXT: &str = r#"{"type": "string"}"#;
const TEXT_TO_ENCODE: &str = r#"{"type": "object",
    "properties": {"text": {"type": "string"}, "decode": {"type": "boolean"}},
    "required": ["text"], "additionalProperties": false}"#;

const ALL: [Builtin; 9] = [
    Builtin {
        name: "now",
        description: "The time: `iso` in UTC, and `unix-ms`, milliseconds since 1970",
        input: NOTHING,
        output: r#"{"type": "object", "properties": {"iso": {"type": "string"}, "unix-ms": {"type": "integer"}},
            "required": ["iso", "unix-ms"]}"#,
        ahead: false,
        work: now,
    },
    Builtin {
        name: WAIT,
        description: "Waits for a number of seconds, within the time limits of the call and the run. In a run with a \
            journal these limits do not apply",
        input: r#"{"type": "object", "properties": {"seconds": {"type": "number", "minimum": 0}},
            "required": ["seconds"], "additionalProperties": false}"#,
        output: r#"{"type": "null"}"#,
        ahead: false,
        work: wait,
    },
    Builtin {
        name: "uuid",
        description: "A new random UUID (version 4)",
        input: NOTHING,
        output: TEXT,
        ahead: false,
        work: uuid,
    },
    Builtin {
        name: "random",
        description: "A random whole number from `min` to `max`, both included",
        input: r#"{"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
            "required": ["min", "max"], "additionalProperties": false}"#,
        output: r#"{"type": "integer"}"#,
        ahead: false,
        work: random,
    },
    Builtin {
        name: "match",
        description: "Every match of a regular expression in a text: its `text`, and its `groups` in order, \
            an empty text for one that took no part",
        input: r#"{"type": "object", "properties": {"text": {"type": "string"}, "pattern": {"type": "string"}},
            "required": ["text", "pattern"], "additionalProperties": false}"#,
        output: r#"{"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"},
            "groups": {"type": "array", "items": {"type": "string"}}}, "required": ["text", "groups"]}}"#,
        ahead: true,
        work: texts::matches,
    },
    Builtin {
        name: "replace",
        description: "A text with every match of a regular expression replaced; `$1` or `${name}` in `with` is \
            a group, `$$` is a dollar sign",
        input: r#"{"type": "object", "properties": {"text": {"type": "string"}, "pattern": {"type": "string"},
            "with": {"type": "string"}}, "required": ["text", "pattern", "with"], "additionalProperties": false}"#,
        output: TEXT,
        ahead: true,
        work: texts::replace,
    },
    Builtin {
        name: "hash",
        description: "The hash of a text in hexadecimal digits, by SHA-256 or SHA-512",
        input: r#"{"type": "object", "properties": {"text": {"type": "string"},
            "algorithm": {"type": "string", "enum": ["sha256", "sha512"]}}, "required": ["text"],
            "additionalProperties": false}"#,
        output: TEXT,
        ahead: true,
        work: texts::hash,
    },
    Builtin {
        name: "base64",
        description: "A text as base64, or with `decode` the text that base64 encodes",
        input: TEXT_TO_ENCODE,
        output: TEXT,
        ahead: true,
        work: texts::base64,
    },
    Builtin {
        name: "url-encode",
        description: "A text as a part of a URL, or with `decode` the text of such a part",
        input: TEXT_TO_ENCODE,
        output: TEXT,
        ahead: true,
        work: texts::url_encode,
    },
];

impl Builtin {
    /// The values of `builtin`.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        ALL.iter().map(|builtin| builtin.name)
    }

    /// The built-in tool `word`, under a name of the tools file.
    pub(crate) fn tool(name: &str, word: &str) -> Option<Tool> {
        let builtin = ALL.into_iter().find(|builtin| builtin.name == word)?;
        let schema =
            |text: &str| read(text.as_bytes(), &Bounds::default()).ok().map(|schema| Arc::new(schema).into());
        let (source, description) = (Source::Builtin(builtin.name), builtin.description);
        let (input, output) = (schema(builtin.input), schema(builtin.output));
        let mut tool = Tool::of(name.to_owned(), source, Some(Box::new(builtin)));
        tool.description = Some(description.to_owned());
        (tool.input_schema, tool.output_schema) = (input, output);
        Some(tool)
    }
}

impl Provider for Builtin {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        (self.work)(request)
    }

    fn may_run_ahead(&self) -> bool {
        self.ahead
    }
}

/// The failure for an argument that does not fit.
fn bad(argument: &str, expected: &str, found: Option<&Data>) -> Failure {
    let found = found.map_or("nothing", Data::kind);
    Failure::text(format!("argument `{argument}`: expected {expected}, found {found}"))
}

/// An argument that is a text.
fn text<'r>(request: &Request<'r>, name: &str) -> Result<&'r str, Failure> {
    match request.arguments.get(name) {
        Some(Data::Text(text)) => Ok(text),
        other => Err(bad(name, "a text", other)),
    }
}

/// An argument that is a whole number.
fn whole(request: &Request<'_>, name: &str) -> Result<i64, Failure> {
    match request.arguments.get(name) {
        Some(Data::Number(Number::Int(int))) => Ok(*int),
        other => Err(bad(name, "a whole number", other)),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "as every built-in tool")]
fn now(_request: &Request<'_>) -> Result<Data, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let iso = Data::Text(to_millisecond(milliseconds));
    Ok(Data::record([("iso", iso), ("unix-ms", Data::Number(Number::Int(milliseconds)))]))
}

fn wait(request: &Request<'_>) -> Result<Data, Failure> {
    let found = request.arguments.get("seconds");
    let seconds = match found {
        Some(Data::Number(seconds)) => {
            let mut text = String::new();
            // Writing to a string does not fail.
            let _ = number::write(*seconds, &mut text);
            text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0)
        }
        _ => None,
    };
    let seconds = seconds.ok_or_else(|| bad("seconds", "a number from 0", found))?;
    // A time that is too long for the clock exceeds the limits too.
    let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    request.wait(wait).map(|()| Data::Nil)
}

/// Random bytes of the system.
fn chance<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::text(format!("the system has no random numbers: {error}")))?;
    Ok(bytes)
}

fn uuid(_request: &Request<'_>) -> Result<Data, Failure> {
    let mut bytes = chance::<16>()?;
    // RFC 9562: the version and the variant.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = hex(&bytes);
    [20, 16, 12, 8].into_iter().for_each(|at| text.insert(at, '-'));
    Ok(Data::Text(text))
}

fn random(request: &Request<'_>) -> Result<Data, Failure> {
    let (min, max) = (whole(request, "min")?, whole(request, "max")?);
    if min > max {
        return Err(Failure::text(format!("`min` is {min}, more than `max`, which is {max}")));
    }
    let count = u128::from(max.abs_diff(min)) + 1;
    // Numbers beyond the last whole multiple would make the small ones more frequent.
    let most = u128::MAX - u128::MAX % count;
    let drawn = loop {
        let drawn = u128::from_le_bytes(chance()?);
        if drawn < most {
            break drawn % count;
        }
    };
    let value = i128::from(min) + i128::try_from(drawn).unwrap_or(0);
    Ok(Data::Number(Number::Int(i64::try_from(value).unwrap_or(max))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_can_be_read() {
        for name in Builtin::names() {
            let tool = Builtin::tool("own", name).unwrap();
            assert!(tool.input_schema.is_some() && tool.output_schema.is_some(), "{name}");
        }
        assert!(Builtin::tool("own", "none").is_none());
    }
}
