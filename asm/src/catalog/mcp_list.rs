//! Reads a catalogue from tools in MCP's form or that of a model's API: `{"tools": […]}`, or the list.
//! [`Wrapped`] has the forms of the APIs.
//!
//! The whole list must be JSON. Schemas stay text until a program names their tool.

use super::{Catalog, CatalogError, Schemas, ToolSignature, Validation, unmarked};
use crate::text::shortened;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

impl Catalog {
    /// Reads `{"tools": […]}` or the bare list, each tool in MCP's form.
    // So that it is built as this crate is, not as that of its caller.
    #[inline(never)]
    pub fn from_json(json: &str) -> Result<Catalog, CatalogError> {
        let data = data_of_events(unmarked(json));
        let listed = tools(&data)?;
        let mut catalog = Catalog::default();
        for (index, tool) in listed.into_iter().enumerate() {
            let wrong = |problem: String| CatalogError::Tool { index, problem };
            let Listed { name, description, input, output, validate, policy } = tool;
            let schemas = Unread {
                input: unread("inputSchema", input).map_err(wrong)?,
                output: unread("outputSchema", output).map_err(wrong)?,
            };
            let requires_rollback =
                policy.as_ref().and_then(|policy| policy.get("rollback")?.as_str()) == Some("required");
            let tool = ToolSignature::with_schemas(&name, description, Arc::new(schemas));
            let confirm = policy.as_ref().and_then(|policy| policy.get("confirm")?.as_bool()) == Some(true);
            if !catalog.insert(ToolSignature { validation: validate, requires_rollback, confirm, ..tool }) {
                return Err(CatalogError::Duplicate { index, name: name.into_owned() });
            }
        }
        Ok(catalog)
    }
}

fn tools(json: &str) -> Result<Vec<Listed<'_>>, CatalogError> {
    list(json).or_else(|_| one_by_one(json))
}

/// The tools of a list in which each is readable.
fn list(json: &str) -> Result<Vec<Listed<'_>>, serde_json::Error> {
    match first(json) {
        Some(b'{') => serde_json::from_str::<Whole<'_>>(json).map(|whole| whole.tools),
        _ => serde_json::from_str(json),
    }
}

/// The data of a text that is an answer over HTTP as a stream of events; any other text as it is.
fn data_of_events(text: &str) -> Cow<'_, str> {
    let is_events = ["event:", "data:", "id:"].iter().any(|start| text.trim_start().starts_with(start));
    if !is_events {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.lines().filter_map(|line| line.strip_prefix("data:")).collect::<Vec<_>>().join("\n"))
}

#[derive(Deserialize)]
struct Whole<'j> {
    #[serde(borrow)]
    tools: Vec<Listed<'j>>,
}

#[derive(Deserialize)]
struct Listed<'j> {
    #[serde(borrow)]
    name: Cow<'j, str>,
    description: Option<String>,
    #[serde(
        borrow,
        rename = "inputSchema",
        alias = "input_schema",
        alias = "parameters",
        alias = "parametersJsonSchema"
    )]
    input: Option<&'j RawValue>,
    #[serde(
        borrow,
        rename = "outputSchema",
        alias = "output_schema",
        alias = "response",
        alias = "responseJsonSchema"
    )]
    output: Option<&'j RawValue>,
    #[serde(default)]
    validate: Validation,
    /// The members that `ilo-vm tools --json` adds from the tools file.
    policy: Option<Value>,
}

/// The first byte that is not white space.
fn first(json: &str) -> Option<u8> {
    json.bytes().find(|byte| !byte.is_ascii_whitespace())
}

/// Reads each tool on its own after reading the whole list has failed, to find out which one is wrong.
fn one_by_one<'j>(json: &'j str) -> Result<Vec<Listed<'j>>, CatalogError> {
    #[derive(Deserialize)]
    struct Parts<'j> {
        #[serde(borrow)]
        tools: Option<&'j RawValue>,
        /// The result in an answer to `tools/list` as it is on the wire, or the part of a request to a model
        /// that has the tools. Beside tools it is about them, such as Gemini's `toolConfig`.
        #[serde(borrow, alias = "toolConfig", alias = "functionDeclarations")]
        result: Option<&'j RawValue>,
        #[serde(rename = "mcpServers")]
        servers: Option<Discarded>,
    }
    let no_json = |error: serde_json::Error| CatalogError::Json(error.to_string());
    serde_json::from_str::<Discarded>(json).map_err(no_json)?;
    let list = match first(json) {
        Some(b'[') => json,
        Some(b'{') => {
            let parts: Parts<'j> = serde_json::from_str(json).map_err(no_json)?;
            match (parts.tools.map(RawValue::get), parts.result) {
                (Some(list), _) if first(list) == Some(b'[') => list,
                (Some(list), _) if first(list) == Some(b'{') => return Err(CatalogError::ToolsFile),
                (None, Some(result)) => return tools(result.get()),
                (None, None) if parts.servers.is_some() => return Err(CatalogError::ToolsFile),
                _ => return Err(CatalogError::NoTools),
            }
        }
        _ => return Err(CatalogError::NoTools),
    };
    let each: Vec<&'j RawValue> = serde_json::from_str(list).map_err(no_json)?;
    let mut all = Vec::new();
    for (index, tool) in each.into_iter().enumerate() {
        match serde_json::from_str(tool.get()) {
            Ok(tool) => all.push(tool),
            Err(error) => {
                let wrapped = serde_json::from_str(tool.get()).ok().and_then(Wrapped::tools);
                let wrong = || CatalogError::Tool { index, problem: without_place(&error) };
                all.extend(wrapped.ok_or_else(wrong)?);
            }
        }
    }
    Ok(all)
}

/// An entry of a list of tools as the APIs of models want it.
#[derive(Deserialize)]
struct Wrapped<'j> {
    /// `OpenAI`; `toolSpec` for Bedrock.
    #[serde(borrow, alias = "toolSpec")]
    function: Option<Listed<'j>>,
    /// Gemini.
    #[serde(borrow, alias = "functionDeclarations", alias = "function_declarations")]
    functions: Option<Vec<Listed<'j>>>,
    /// A mark of Bedrock, which is no tool.
    #[serde(rename = "cachePoint")]
    mark: Option<Discarded>,
}

impl<'j> Wrapped<'j> {
    fn tools(self) -> Option<Vec<Listed<'j>>> {
        /// A schema as Bedrock wants it.
        #[derive(Deserialize)]
        struct Schema<'j> {
            #[serde(borrow)]
            json: &'j RawValue,
        }
        let own = self.function.map(|tool| {
            let schema = tool.input.and_then(|input| serde_json::from_str::<Schema<'j>>(input.get()).ok());
            Listed { input: schema.map(|schema| schema.json).or(tool.input), ..tool }
        });
        let none = || self.mark.map(|_| Vec::new());
        own.map(|tool| vec![tool]).or(self.functions).or_else(none)
    }
}

/// The message of an error without its position, which is relative to a part of the text.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.clone(), |(what, _)| what.to_owned())
}

/// The text of a schema. It is known to be JSON, so reading it later cannot fail.
fn unread(key: &str, schema: Option<&RawValue>) -> Result<Option<Box<RawValue>>, String> {
    let Some(schema) = schema else { return Ok(None) };
    if first(schema.get()) != Some(b'{') {
        return Err(format!("expected a record as `{key}`, found `{}`", shortened(schema.get(), 40)));
    }
    let checked = serde_json::from_str::<Discarded>(schema.get());
    checked.map_err(|error| format!("`{key}`: {}", without_place(&error)))?;
    Ok(Some(schema.to_owned()))
}

/// Schemas that have not been read yet.
struct Unread {
    input: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
}

impl Schemas for Unread {
    fn schemas(&self) -> (Option<Cow<'_, Value>>, Option<Cow<'_, Value>>) {
        let read = |text: &Option<Box<RawValue>>| {
            text.as_ref().and_then(|text| serde_json::from_str(text.get()).ok()).map(Cow::Owned)
        };
        (read(&self.input), read(&self.output))
    }

    fn has_output(&self) -> bool {
        self.output.is_some()
    }
}

/// A value that is read and discarded.
struct Discarded;

/// The methods of a visitor that takes each value.
macro_rules! accepts {
    ($($visit:ident($($of:ty)?))*) => {$(
        fn $visit<E>(self, $(_: $of)?) -> Result<Discarded, E> {
            Ok(Discarded)
        }
    )*};
}

impl<'de> Deserialize<'de> for Discarded {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Discarded, D::Error> {
        reader.deserialize_any(Discarded)
    }
}

impl<'de> Visitor<'de> for Discarded {
    type Value = Discarded;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    accepts! { visit_unit() visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Discarded, A::Error> {
        while items.next_element::<Discarded>()?.is_some() {}
        Ok(Discarded)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Discarded, A::Error> {
        while fields.next_entry::<Discarded, Discarded>()?.is_some() {}
        Ok(Discarded)
    }
}
