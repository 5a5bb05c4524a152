//! The hosts that take a JSON Schema: what a schema for them may have, and their limits, which are checked
//! before they would refuse.

use std::fmt;

/// Why there is no schema: the host would refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The host.
    pub host: &'static str,
    /// What there is too much of.
    pub what: &'static str,
    /// How much there is.
    pub count: usize,
    /// How much the host takes.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooLarge { host, what, count, limit } = self;
        write!(f, "{host} takes at most {limit} {what}, found {count}; name fewer tools with --only")
    }
}

impl std::error::Error for TooLarge {}

/// Who takes a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Structured outputs and strict tools of `OpenAI`.
    OpenAi,
    /// Structured outputs and strict tools of Anthropic.
    Anthropic,
    /// Outlines.
    Outlines,
}

/// What a schema may have.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a feature of JSON Schema that a host has or has not"
)]
pub(super) struct Rules {
    /// Definitions that refer to themselves.
    pub(super) recursion: bool,
    /// Properties that may be absent.
    pub(super) optional: bool,
    /// Records whose keys are not listed.
    pub(super) free_keys: bool,
    /// Least and most items.
    pub(super) bounds: bool,
    /// Values by their kinds, which takes many unions.
    pub(super) typed: bool,
}

impl Rules {
    pub(super) const FREE: Rules =
        Rules { recursion: true, optional: true, free_keys: true, bounds: true, typed: true };
}

impl Host {
    pub(super) fn rules(self) -> Rules {
        match self {
            Host::OpenAi => Rules { optional: false, free_keys: false, ..Rules::FREE },
            Host::Anthropic => {
                Rules { recursion: false, optional: true, free_keys: false, bounds: false, typed: false }
            }
            Host::Outlines => Rules { recursion: false, free_keys: false, typed: false, ..Rules::FREE },
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

fn at_most(host: &'static str, what: &'static str, count: usize, limit: usize) -> Result<(), TooLarge> {
    if count > limit { Err(TooLarge { host, what, count, limit }) } else { Ok(()) }
}

/// Limits of schemas, as known in November 2026.
pub(super) fn tools(host: Option<Host>, tools: usize) -> Result<(), TooLarge> {
    let limit = match host {
        Some(Host::Anthropic) => 20,
        // No program needs more, and each has several forms in a schema.
        _ => 2000,
    };
    at_most(host.map_or("a schema", Host::name), "tools", tools, limit)
}

pub(super) fn schema(host: Option<Host>, text: &str) -> Result<(), TooLarge> {
    let Some(host) = host else { return Ok(()) };
    let all: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let mut found = Found::default();
    found.count(&all, false);
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
struct Found {
    properties: usize,
    optional: usize,
    constants: usize,
    characters: usize,
}

impl Found {
    /// Counts in one place of a schema. Our own schemas nest little, so this may recurse.
    fn count(&mut self, value: &serde_json::Value, names: bool) {
        use serde_json::Value;
        match value {
            Value::Object(all) => {
                if names {
                    self.properties += all.len();
                    self.characters += all.keys().map(|name| name.chars().count()).sum::<usize>();
                } else if let Some(Value::Object(properties)) = all.get("properties") {
                    let required = all.get("required").and_then(Value::as_array).map_or(0, Vec::len);
                    self.optional += properties.len().saturating_sub(required);
                }
                for (name, inner) in all {
                    match inner {
                        Value::Array(constants) if name == "enum" && !names => {
                            self.constants += constants.len();
                            let texts = constants.iter().filter_map(Value::as_str);
                            self.characters += texts.map(|text| text.chars().count()).sum::<usize>();
                        }
                        _ => self.count(inner, name == "properties" && !names),
                    }
                    if name == "$defs"
                        && let Value::Object(defs) = inner
                    {
                        self.characters += defs.keys().map(|name| name.chars().count()).sum::<usize>();
                    }
                }
            }
            Value::Array(all) => all.iter().for_each(|inner| self.count(inner, false)),
            _ => {}
        }
    }
}
