//! The hosts that accept a JSON Schema: the features and limits of their schemas, which are checked before a
//! host would refuse a schema.

use serde_json::Value;
use std::fmt;

/// The reason why there is no grammar or schema: the host would refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The host.
    pub host: &'static str,
    /// The exceeded limit.
    pub what: &'static str,
    /// The amount found.
    pub count: usize,
    /// The amount that the host accepts.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooLarge { host, what, count, limit } = self;
        write!(f, "{host} takes at most {limit} {what}, found {count}; name fewer tools with --only")
    }
}

impl std::error::Error for TooLarge {}

/// A target for a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Structured outputs and strict tools of `OpenAI`.
    OpenAi,
    /// Structured outputs and strict tools of Anthropic.
    Anthropic,
    /// Outlines.
    Outlines,
}

/// How many properties of a schema may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    /// None.
    None,
    /// A few, which are reserved for arguments of tools.
    Few,
    /// Any.
    Any,
}

/// The allowed features of a schema.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a feature of JSON Schema that a host has or has not"
)]
pub(super) struct Features {
    /// Definitions that refer to themselves.
    pub(super) recursion: bool,
    /// Properties that may be absent.
    pub(super) optional: Optional,
    /// Records whose keys are not listed.
    pub(super) free_keys: bool,
    /// Least and most items.
    pub(super) bounds: bool,
    /// Values by their kinds, which needs many unions.
    pub(super) typed: bool,
    /// Definitions, and references to them.
    pub(super) references: bool,
    /// The nesting of values if definitions do not refer to themselves: in `expr` and `ret`, and elsewhere.
    pub(super) values: (u8, u8),
}

impl Features {
    pub(super) const FREE: Features = Features {
        recursion: true,
        optional: Optional::Any,
        free_keys: true,
        bounds: true,
        typed: true,
        references: true,
        values: (2, 2),
    };
}

impl Host {
    pub(super) fn features(self) -> Features {
        match self {
            Host::OpenAi => Features { optional: Optional::None, free_keys: false, ..Features::FREE },
            Host::Anthropic => {
                let features =
                    Features { recursion: false, free_keys: false, bounds: false, ..Features::FREE };
                Features { optional: Optional::Few, typed: false, ..features }
            }
            // It leaves out everything more than three references away, and makes one regular expression of
            // the whole.
            Host::Outlines => Features {
                recursion: false,
                free_keys: false,
                typed: false,
                references: false,
                values: (1, 0),
                ..Features::FREE
            },
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Host::OpenAi => "OpenAI",
            Host::Anthropic => "Anthropic",
            Host::Outlines => "Outlines",
        }
    }
}

pub(super) fn at_most(
    host: &'static str,
    what: &'static str,
    count: usize,
    limit: usize,
) -> Result<(), TooLarge> {
    if count > limit { Err(TooLarge { host, what, count, limit }) } else { Ok(()) }
}

/// Limits of schemas, as known in November 2026.
pub(super) fn tools(host: Option<Host>, tools: usize) -> Result<(), TooLarge> {
    let limit = match host {
        Some(Host::Anthropic) => 20,
        // No program needs more, and each property has several forms in a schema.
        _ => 2000,
    };
    at_most(host.map_or("a schema", Host::name), "tools", tools, limit)
}

pub(super) fn schema(host: Option<Host>, text: &str) -> Result<(), TooLarge> {
    let Some(host) = host else { return Ok(()) };
    let all: Value = serde_json::from_str(text).unwrap_or_default();
    let mut found = Tally::default();
    found.count(&all);
    let name = host.name();
    match host {
        Host::OpenAi => {
            at_most(name, "properties", found.properties, 5_000)?;
            at_most(name, "values of enum", found.constants, 1_000)?;
            at_most(name, "characters in names and constants", found.characters, 120_000)
        }
        Host::Anthropic => at_most(name, "optional properties", found.optional, 24),
        Host::Outlines => Ok(()),
    }
}

#[derive(Default)]
struct Tally {
    properties: usize,
    optional: usize,
    constants: usize,
    characters: usize,
}

impl Tally {
    /// Tally at one position of a schema. Schemas of this crate nest little, so this may recurse.
    fn count(&mut self, value: &Value) {
        if let Value::Array(all) = value {
            all.iter().for_each(|inner| self.count(inner));
        }
        let Value::Object(all) = value else { return };
        for (key, inner) in all {
            match (key.as_str(), inner) {
                ("properties" | "$defs", Value::Object(named)) => {
                    self.characters += named.keys().map(|name| name.chars().count()).sum::<usize>();
                    if key == "properties" {
                        let required = all.get("required").and_then(Value::as_array).map_or(0, Vec::len);
                        self.properties += named.len();
                        self.optional += named.len().saturating_sub(required);
                    }
                    named.values().for_each(|inner| self.count(inner));
                }
                ("enum", Value::Array(constants)) => {
                    let texts = constants.iter().filter_map(Value::as_str);
                    let characters = texts.map(|text| text.chars().count()).sum::<usize>();
                    self.constants += constants.len();
                    self.characters += characters;
                }
                _ => self.count(inner),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(host: Host, schema: &Value) -> Option<String> {
        super::schema(Some(host), &schema.to_string()).err().map(|error| error.to_string())
    }

    fn properties(count: usize) -> Value {
        let all = (0..count).map(|n| (n.to_string(), json!({})));
        json!({"properties": Value::Object(all.collect()), "required": []})
    }

    fn constants(count: usize, width: usize) -> Value {
        json!({"enum": (0..count).map(|n| format!("{n:0width$}")).collect::<Vec<_>>()})
    }

    /// The limits in the hosts' documentation, each at n and at n + 1.
    #[test]
    fn limits_hold_at_n_and_not_at_n_plus_1() {
        for (host, fits, is_past, what) in [
            (Host::OpenAi, properties(5_000), properties(5_001), "5000 properties, found 5001"),
            (Host::OpenAi, constants(1_000, 4), constants(1_001, 4), "1000 values of enum, found 1001"),
            (
                Host::OpenAi,
                json!({"enum": ["x".repeat(120_000)]}),
                json!({"$defs": {"d": {"enum": ["x".repeat(120_000)]}}}),
                "120000 characters in names and constants, found 120001",
            ),
            (Host::Anthropic, properties(24), properties(25), "24 optional properties, found 25"),
        ] {
            assert_eq!(refused(host, &fits), None);
            let message = refused(host, &is_past).unwrap_or_default();
            assert!(message.contains(what), "{what}: {message}");
        }
        assert!(tools(Some(Host::Anthropic), 20).is_ok() && tools(Some(Host::Anthropic), 21).is_err());
        assert!(tools(None, 2_000).is_ok() && tools(None, 2_001).is_err());
    }

    /// A property with the name of a keyword is a name.
    #[test]
    fn names_are_no_keywords() {
        let schema = json!({"properties": {"enum": {"type": "string"}, "const": {}, "properties": {}}});
        let mut found = Tally::default();
        found.count(&schema);
        assert_eq!((found.properties, found.constants), (3, 0));
    }
}
