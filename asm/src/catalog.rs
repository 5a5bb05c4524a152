//! The available tools, their signatures, and the one home of how tools are named.
//!
//! [`Catalog::lookup`] serves checking, planning and the dispatch of calls; the forms of `mcp://` are in
//! `name` alone. A catalogue comes from JSON ([`Catalog::from_json`]) or is filled tool by tool from live
//! servers. It does not know where a tool runs, and it does not validate values: of a JSON Schema it keeps
//! names, required names and types, and of that of an answer the fields too.

mod fields;
mod name;
mod refer;
mod shape;

pub use fields::Fields;
pub use name::{
    ADDRESS, address, bare, is_address, meant_address, own_function, own_function_address, server_and_tool,
    tool_of_client_name, without_scheme,
};

use crate::types::Inferred;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// Where a schema may list properties beside `properties`.
const ELSEWHERE: [&str; 7] =
    ["allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties", "dependentSchemas"];

/// A tool's signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its own name, by which the host finds it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The listed arguments, sorted by name.
    pub arguments: Vec<Argument>,
    /// Whether it takes arguments that are not listed.
    pub open: bool,
    /// The type of its answer.
    pub output: Inferred,
    /// The fields of its answer.
    pub fields: Fields,
    /// Its call and result as a model reads them: `get-user(user-id: text) -> {email: text}`.
    pub signature: String,
    /// Whether every call of it must have a ROLLBACK right behind it.
    pub requires_rollback: bool,
}

/// An argument of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Whether a call must give it.
    pub required: bool,
    /// Its type.
    pub ty: Inferred,
}

impl Tool {
    /// A tool with the JSON Schemas of its input and output, where it has them.
    ///
    /// MCP's schemas mostly leave `additionalProperties` out and mean the properties they list, so a schema
    /// that lists properties takes no others unless it says so.
    pub fn new(
        name: &str,
        description: Option<String>,
        input: Option<&Value>,
        output: Option<&Value>,
    ) -> Tool {
        let (input, output) = (input.map(refer::followed), output.map(refer::followed));
        let input = input.as_deref().and_then(Value::as_object);
        let given = output.as_deref().map(output_schema);
        Tool {
            name: name.to_owned(),
            description,
            arguments: input.map(arguments).unwrap_or_default(),
            open: input.is_none_or(is_open),
            output: given.map_or(Inferred::ANY, schema_type),
            fields: given.map(Fields::of).unwrap_or_default(),
            signature: shape::signature(name, input, given),
            requires_rollback: false,
        }
    }

    /// The argument of a name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        let at = self.arguments.binary_search_by(|argument| argument.name.as_str().cmp(name)).ok()?;
        self.arguments.get(at)
    }
}

/// The properties of a schema as arguments, sorted by name.
fn arguments(schema: &Map<String, Value>) -> Vec<Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let required: HashSet<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let listed = properties.into_iter().flatten().map(|(name, property)| Argument {
        name: name.clone(),
        required: required.contains(name.as_str()),
        ty: schema_type(property),
    });
    let unlisted = required
        .iter()
        .filter(|&&name| properties.is_none_or(|listed| !listed.contains_key(name)))
        .map(|&name| Argument { name: name.to_owned(), required: true, ty: Inferred::ANY });
    let mut arguments: Vec<Argument> = listed.chain(unlisted).collect();
    arguments.sort_by(|a, b| a.name.cmp(&b.name));
    arguments
}

/// Whether a schema takes properties that it does not list.
fn is_open(schema: &Map<String, Value>) -> bool {
    match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => *open,
        Some(_) => true,
        None => !schema.contains_key("properties") || ELSEWHERE.iter().any(|&key| schema.contains_key(key)),
    }
}

/// The type of a schema's value, as far as one plain `type` gives it.
fn schema_type(schema: &Value) -> Inferred {
    let mut schema = schema;
    let mut lists = 0;
    loop {
        let innermost = match schema.get("type").and_then(Value::as_str) {
            Some("array") => {
                lists += 1;
                match schema.get("items") {
                    Some(items) if items.is_object() && lists < ilo_spec::limits::TYPE_LISTS => {
                        schema = items;
                        continue;
                    }
                    _ => Inferred::ANY,
                }
            }
            Some("string") => Inferred::TEXT,
            Some("number" | "integer") => Inferred::NUMBER,
            Some("boolean") => Inferred::BOOL,
            Some("null") => Inferred::NIL,
            Some("object") => Inferred::RECORD,
            _ => Inferred::ANY,
        };
        return (0..lists).fold(innermost, |ty, _| ty.list());
    }
}

/// The schema of the part of a tool's result that a program gets. Some servers put a plain result into a
/// record of one field and mark it; a program gets the plain result.
fn output_schema(schema: &Value) -> &Value {
    match schema.get("x-fastmcp-wrap-result") {
        Some(Value::Bool(true)) => schema.pointer("/properties/result").unwrap_or(&Value::Null),
        _ => schema,
    }
}

/// What a name in a program refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'c> {
    /// This tool.
    Found(&'c Tool),
    /// A bare name that several servers have.
    Ambiguous(Vec<&'c Tool>),
    /// Perhaps a tool of a server whose tools are not listed.
    Unlisted,
    /// A tool that exists, by its own name, and that programs may not call.
    Withheld(&'c str),
    /// No tool.
    Unknown,
}

/// Tools by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    /// Tools of servers by the name without the server.
    by_bare: HashMap<String, Vec<usize>>,
    servers: HashSet<String>,
    /// Servers whose tools are not listed.
    unlisted: HashSet<String>,
    /// The names of tools that programs may not call, by themselves and without their server.
    withheld: HashMap<String, String>,
}

impl Catalog {
    /// Reads `{"tools": […]}` or the bare list, each tool as MCP lists it.
    pub fn from_json(json: &str) -> Result<Catalog, CatalogError> {
        #[derive(Deserialize)]
        struct Listed {
            name: String,
            description: Option<String>,
            #[serde(rename = "inputSchema")]
            input: Option<Map<String, Value>>,
            #[serde(rename = "outputSchema")]
            output: Option<Map<String, Value>>,
            /// What `ilo-vm tools --json` adds of the tools file.
            policy: Option<Value>,
        }
        let whole: Value =
            serde_json::from_str(json).map_err(|error| CatalogError::Json(error.to_string()))?;
        let list = match whole {
            Value::Array(list) => list,
            Value::Object(mut whole) => match whole.remove("tools") {
                Some(Value::Array(list)) => list,
                Some(Value::Object(_)) => return Err(CatalogError::ToolsFile),
                None if whole.contains_key("mcpServers") => return Err(CatalogError::ToolsFile),
                _ => return Err(CatalogError::NoTools),
            },
            _ => return Err(CatalogError::NoTools),
        };
        let mut catalog = Catalog::default();
        for (index, value) in list.into_iter().enumerate() {
            let Listed { name, description, input, output, policy } = serde_json::from_value(value)
                .map_err(|error| CatalogError::Tool { index, problem: error.to_string() })?;
            let (input, output) = (input.map(Value::Object), output.map(Value::Object));
            let mut tool = Tool::new(&name, description, input.as_ref(), output.as_ref());
            tool.requires_rollback =
                policy.as_ref().and_then(|policy| policy.get("rollback")?.as_str()) == Some("required");
            if !catalog.insert(tool) {
                return Err(CatalogError::Duplicate { index, name });
            }
        }
        Ok(catalog)
    }

    /// Adds a tool; `false`, and nothing changes, where its name is taken.
    pub fn insert(&mut self, tool: Tool) -> bool {
        if self.by_name.contains_key(&tool.name) {
            return false;
        }
        let index = self.tools.len();
        if let Some((server, bare)) = server_and_tool(&tool.name) {
            self.servers.insert(server.to_owned());
            self.by_bare.entry(bare.to_owned()).or_default().push(index);
        }
        self.by_name.insert(tool.name.clone(), index);
        self.tools.push(tool);
        true
    }

    /// Adds a server; `listed` where its tools are those that are inserted, else they are unknown.
    pub fn insert_server(&mut self, server: &str, listed: bool) {
        let kind = if listed { &mut self.servers } else { &mut self.unlisted };
        kind.insert(server.to_owned());
    }

    /// Adds a tool that programs may not call, so that a call of it gets an error that explains this.
    pub fn withhold(&mut self, name: &str) {
        for form in [name, bare(name)] {
            self.withheld.entry(form.to_owned()).or_insert_with(|| name.to_owned());
        }
    }

    /// Every tool, in the order in which they were added.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Finds the tool that a program means.
    ///
    /// A tool's own name comes first. A bare name also finds a server's tool of that name if only one server
    /// has one, and a tool without a server answers for `mcp://server/tool` while there is no server of that
    /// name.
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        let own = |name: &str| self.by_name.get(name).and_then(|&index| self.tools.get(index));
        if let Some(tool) = own(name) {
            return Lookup::Found(tool);
        }
        let none = || self.withheld.get(name).map_or(Lookup::Unknown, |own| Lookup::Withheld(own));
        if let Some((server, tool)) = server_and_tool(name) {
            if self.unlisted.contains(server) {
                return Lookup::Unlisted;
            }
            let stand_in = own(tool).filter(|_| !self.servers.contains(server));
            return stand_in.map_or_else(none, Lookup::Found);
        }
        let several: Vec<&Tool> =
            self.by_bare.get(name).into_iter().flatten().filter_map(|&index| self.tools.get(index)).collect();
        match several[..] {
            [] => none(),
            [tool] => Lookup::Found(tool),
            _ => Lookup::Ambiguous(several),
        }
    }

    /// The names to suggest for a name like this one: with their server where it has one, else also without.
    pub fn names_like<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c str> {
        let with_server = is_address(name);
        self.tools.iter().flat_map(move |tool| {
            let short = bare(&tool.name);
            let also = (!with_server && short.len() != tool.name.len()).then_some(short);
            core::iter::once(tool.name.as_str()).chain(also)
        })
    }
}

/// Why a text is not a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// It is not JSON.
    Json(String),
    /// It is neither a list of tools nor a record with one.
    NoTools,
    /// It gives the locations of tools, as a host's tools file does, and not their signatures.
    ToolsFile,
    /// An entry is not a tool.
    Tool {
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A name that an earlier entry has.
    Duplicate {
        /// Its place in the list, from 0.
        index: usize,
        /// The name.
        name: String,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::Json(problem) => write!(f, "expected JSON: {problem}"),
            CatalogError::NoTools => f.write_str("expected `{\"tools\": […]}` or a list of tools"),
            CatalogError::ToolsFile => f.write_str(
                "this is a tools file; `ilo-vm tools --tools FILE --json` prints the list of its tools, which is wanted here",
            ),
            CatalogError::Tool { index, problem } => write!(f, "tools[{index}] is not a tool: {problem}"),
            CatalogError::Duplicate { index, name } => {
                write!(f, "tools[{index}]: an earlier tool is named `{name}` as well")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn catalog(names: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        for name in names {
            assert!(catalog.insert(Tool::new(name, None, None, None)));
        }
        catalog
    }

    #[track_caller]
    fn found(catalog: &Catalog, name: &str, expected: &[&str]) {
        let names: Vec<&str> = match catalog.lookup(name) {
            Lookup::Found(tool) => vec![&tool.name],
            Lookup::Ambiguous(tools) => tools.iter().map(|tool| tool.name.as_str()).collect(),
            Lookup::Unlisted => vec!["?"],
            Lookup::Withheld(name) => vec!["!", name],
            Lookup::Unknown => vec![],
        };
        assert_eq!(names, expected, "{name}");
    }

    #[test]
    fn a_name_finds_its_tool_in_every_form() {
        let tools = catalog(&[
            "get-user",
            "mcp://mail/send",
            "mcp://mail/list",
            "mcp://files/list",
            "mcp://files/get-user",
        ]);
        found(&tools, "get-user", &["get-user"]);
        found(&tools, "mcp://mail/send", &["mcp://mail/send"]);
        found(&tools, "send", &["mcp://mail/send"]);
        found(&tools, "list", &["mcp://mail/list", "mcp://files/list"]);
        found(&tools, "mcp://users/get-user", &["get-user"]);
        found(&tools, "mcp://mail/get-user", &[]);
        found(&tools, "mcp://users/send", &[]);
        found(&tools, "delete", &[]);
        found(&tools, "mcp://mail", &[]);
    }

    #[test]
    fn a_tool_that_is_withheld_is_found_as_such() {
        let mut tools = catalog(&["mcp://files/read", "mcp://notes/delete"]);
        tools.withhold("mcp://files/delete");
        tools.withhold("mcp://files/move");
        found(&tools, "mcp://files/delete", &["!", "mcp://files/delete"]);
        found(&tools, "delete", &["mcp://notes/delete"]);
        found(&tools, "move", &["!", "mcp://files/move"]);
        found(&tools, "mcp://files/mov", &[]);
    }

    #[test]
    fn no_other_tool_answers_for_a_server_that_exists() {
        let mut tools = catalog(&["get-user"]);
        found(&tools, "mcp://users/get-user", &["get-user"]);
        tools.insert_server("users", false);
        found(&tools, "mcp://users/get-user", &["?"]);
        found(&tools, "mcp://users/other", &["?"]);
        found(&tools, "other", &[]);
    }

    #[test]
    fn schemas_become_types() {
        for (schema, expected) in [
            (json!({"type": "string"}), "text"),
            (json!({"type": "integer"}), "number"),
            (json!({"type": "number"}), "number"),
            (json!({"type": "boolean"}), "bool"),
            (json!({"type": "null"}), "nil"),
            (json!({"type": "object", "properties": {}}), "record"),
            (json!({"type": "array"}), "list any"),
            (
                json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
                "list list text",
            ),
            (json!({"type": "array", "items": {"$ref": "#/x"}}), "list any"),
            (json!({"type": ["string", "null"]}), "any"),
            (json!({"anyOf": [{"type": "string"}]}), "any"),
            (json!(true), "any"),
        ] {
            assert_eq!(schema_type(&schema).to_string(), expected, "{schema}");
        }
        let wrapped = json!({"type": "object", "properties": {"result": {"type": "string"}}, "x-fastmcp-wrap-result": true});
        assert_eq!(schema_type(output_schema(&wrapped)), Inferred::TEXT);
    }

    #[test]
    fn arguments_are_closed_where_the_schema_lists_them() {
        for (schema, open) in [
            (json!({"properties": {"a": {}}}), false),
            (json!({"properties": {"a": {}}, "additionalProperties": false}), false),
            (json!({"properties": {"a": {}}, "additionalProperties": true}), true),
            (json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}), true),
            (json!({"properties": {"a": {}}, "anyOf": []}), true),
            (json!({"additionalProperties": false}), false),
            (json!({"type": "object"}), true),
        ] {
            assert_eq!(Tool::new("t", None, Some(&schema), None).open, open, "{schema}");
        }
        assert!(Tool::new("t", None, None, None).open);
        let schema = json!({"properties": {"b": {"type": "string"}, "a": {}}, "required": ["c", "b"]});
        let tool = Tool::new("t", None, Some(&schema), None);
        let shown: Vec<String> =
            tool.arguments.iter().map(|a| format!("{} {} {}", a.name, a.ty, a.required)).collect();
        assert_eq!(shown, ["a any false", "b text true", "c any true"]);
        assert_eq!(tool.argument("b").map(|a| a.required), Some(true));
        assert_eq!(tool.argument("d"), None);
    }

    #[test]
    fn catalogues_are_read_in_both_forms_and_refused_with_the_place() {
        const TOOLS_FILE: &str = "this is a tools file; `ilo-vm tools --tools FILE --json` prints the list of its tools, which is \
                                  wanted here";
        for json in [r#"{"tools":[{"name":"a"}],"nextCursor":"x"}"#, r#"[{"name":"a","annotations":{}}]"#] {
            found(&Catalog::from_json(json).unwrap(), "a", &["a"]);
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (json, expected) in [
            ("nonsense", "expected JSON: expected ident at line 1 column 2"),
            (deep.as_str(), "expected JSON: recursion limit exceeded at line 1 column 128"),
            ("{}", "expected `{\"tools\": […]}` or a list of tools"),
            (r#"{"tools":3}"#, "expected `{\"tools\": […]}` or a list of tools"),
            (r#"{"tools":{"a":{"mock":{"returns":1}}}}"#, TOOLS_FILE),
            (r#"{"mcpServers":{}}"#, TOOLS_FILE),
            (r#"[{"name":"a"},{}]"#, "tools[1] is not a tool: missing field `name`"),
            (r#"[{"name":"a"},{"name":"a"}]"#, "tools[1]: an earlier tool is named `a` as well"),
            (
                r#"[{"name":"a","inputSchema":3}]"#,
                "tools[0] is not a tool: invalid type: integer `3`, expected a map",
            ),
        ] {
            assert_eq!(Catalog::from_json(json).unwrap_err().to_string(), expected);
        }
    }
}
