//! The available tools and their signatures, and how names of tools are resolved.
//!
//! Checking, planning and the dispatch of calls all resolve names with [`Catalog::lookup`]; only the module
//! `name` knows the forms of `mcp://`. A catalogue is read from JSON ([`Catalog::from_json`]) or filled tool
//! by tool from live servers. It does not know where a tool runs, and does not validate values. A schema
//! becomes a [`SchemaShape`] when it is first needed, so that a program pays only for the tools that it
//! names.

mod declared;
mod format;
mod limits;
mod mcp_list;
mod name;
mod reading;
mod shape;
mod signature;
#[cfg(test)]
mod tests;
mod tools_file;
mod unchecked_keywords;
mod validation;

pub use declared::Declared;
pub use format::Format;
pub use name::{
    ADDRESS, address, bare, is_address, meant_address, own_function, own_function_address, server_and_tool,
    tool_of_client_name, without_scheme,
};
pub use shape::{Field, Misfit, RangeEnd, SchemaShape};
pub use validation::OutputSchema;
pub use validation::Validation;

use hashbrown::{HashMap, HashSet};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A source of the JSON Schemas of a tool's arguments and answer.
pub trait Schemas: Send + Sync {
    /// The schema of the arguments and that of the answer, if the tool has them.
    fn schemas(&self) -> (Option<Cow<'_, Value>>, Option<Cow<'_, Value>>);

    /// Whether the tool has a schema of its answer, which is known without reading it.
    fn has_output(&self) -> bool;
}

/// Schemas that are already in memory.
struct AtHand(Option<Value>, Option<Value>);

impl Schemas for AtHand {
    fn schemas(&self) -> (Option<Cow<'_, Value>>, Option<Cow<'_, Value>>) {
        (self.0.as_ref().map(Cow::Borrowed), self.1.as_ref().map(Cow::Borrowed))
    }

    fn has_output(&self) -> bool {
        self.1.is_some()
    }
}

/// A tool's signature.
#[derive(Clone)]
pub struct ToolSignature {
    /// Its full name, by which the host finds it.
    pub name: String,
    /// A description of its purpose.
    pub description: Option<String>,
    /// What follows an answer that does not fit its schema.
    pub validation: Validation,
    schemas: Arc<dyn Schemas>,
    shapes: OnceLock<Arc<shape::Shapes>>,
    /// Whether each call of it must be followed directly by a ROLLBACK.
    pub requires_rollback: bool,
    /// Whether a person is asked before each call.
    pub confirm: bool,
}

/// The name of [`ToolSignature`] in earlier versions.
#[doc(hidden)]
#[deprecated(since = "0.1.0", note = "it is `ToolSignature`: hosts import the tools of `ilo-host` beside it")]
pub type Tool = ToolSignature;

impl fmt::Debug for ToolSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSignature").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for ToolSignature {
    fn eq(&self, other: &ToolSignature) -> bool {
        self.name == other.name
            && self.description == other.description
            && self.validation == other.validation
            && self.requires_rollback == other.requires_rollback
            && self.confirm == other.confirm
            && (Arc::ptr_eq(&self.schemas, &other.schemas)
                || self.schemas.schemas() == other.schemas.schemas())
    }
}

impl Eq for ToolSignature {}

impl ToolSignature {
    /// A tool with the JSON Schemas of its arguments and answer, if it has them.
    ///
    /// Most MCP schemas omit `additionalProperties` but mean the listed properties only. So a schema that
    /// lists properties allows no others unless it says so.
    pub fn new(
        name: &str,
        description: Option<String>,
        input: Option<&Value>,
        output: Option<&Value>,
    ) -> ToolSignature {
        ToolSignature::with_schemas(name, description, Arc::new(AtHand(input.cloned(), output.cloned())))
    }

    /// A tool whose schemas are loaded when they are first needed.
    pub fn with_schemas(name: &str, description: Option<String>, schemas: Arc<dyn Schemas>) -> ToolSignature {
        ToolSignature {
            name: name.to_owned(),
            description,
            validation: Validation::Fail,
            schemas,
            shapes: OnceLock::new(),
            requires_rollback: false,
            confirm: false,
        }
    }

    fn shapes(&self) -> &shape::Shapes {
        self.shapes.get_or_init(|| {
            let (input, output) = self.schemas.schemas();
            Arc::new(reading::shapes(&self.name, input.as_deref(), output.as_deref()))
        })
    }

    /// The shape of its arguments, as the fields of a record.
    pub fn input(&self) -> SchemaShape<'_> {
        let shapes = self.shapes();
        SchemaShape::new(shapes, shapes.input)
    }

    /// The shape of its answer.
    pub fn output(&self) -> SchemaShape<'_> {
        let shapes = self.shapes();
        SchemaShape::new(shapes, shapes.output)
    }

    /// The first keyword of its schemas with a value that it cannot have, in words.
    pub fn misused(&self) -> Option<&str> {
        self.shapes().misused.as_deref()
    }

    /// The schemas of its arguments and its answer as JSON, if it has them.
    pub fn schema_texts(&self) -> (Option<String>, Option<String>) {
        let (input, output) = self.schemas.schemas();
        (input.map(|schema| schema.to_string()), output.map(|schema| schema.to_string()))
    }

    /// The keywords of its schemas that restrict values but are not checked, in alphabetical order.
    pub fn unchecked_keywords(&self) -> Vec<&'static str> {
        let (input, output) = self.schemas.schemas();
        let mut found = std::collections::BTreeSet::new();
        for schema in [input.as_deref(), output.as_deref()].into_iter().flatten() {
            unchecked_keywords::unchecked_keywords(schema, &mut found);
        }
        found.into_iter().collect()
    }

    /// What a model reads of its arguments, by name, in the order of the schema: the description, and what
    /// the check will ask of a value beside its type.
    pub fn argument_notes(&self) -> Vec<(String, Option<String>, String)> {
        let (input, _) = self.schemas.schemas();
        let properties = input.as_deref().and_then(|schema| schema.get("properties")?.as_object());
        let about = |(name, schema): (&String, &Value)| {
            let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
            (name.clone(), description, limits::of(schema))
        };
        properties.into_iter().flatten().map(about).collect()
    }

    /// Whether it has no schema for its answers.
    pub fn has_no_output_schema(&self) -> bool {
        !self.schemas.has_output()
    }

    /// Whether its answers are certain to have the types in their schema.
    pub fn is_validated(&self) -> bool {
        self.validation == Validation::Fail
    }

    /// Whether records of a shape may have fields that it does not list: the schema does not forbid them, and
    /// a value that does not fit is accepted.
    pub fn lets_others(&self, shape: SchemaShape<'_>) -> bool {
        !self.is_validated() && !shape.refuses_others()
    }

    /// Its arguments in the form for a model: `user-id: text, deep?: bool`.
    pub fn arguments(&self) -> String {
        signature::arguments(self.input())
    }

    /// Its signature in the form for a model: `get-user(user-id: text) -> {email: text}`.
    pub fn signature(&self) -> String {
        signature::signature(&self.name, self.input(), self.output())
    }
}

/// What a name in a program refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'c> {
    /// This tool.
    Found(&'c ToolSignature),
    /// A bare name that several servers have.
    Ambiguous(Vec<&'c ToolSignature>),
    /// Possibly a tool of a server whose tools are not listed.
    Unlisted,
    /// A tool that exists but that programs may not call, with its full name.
    Withheld(&'c str),
    /// A tool that cannot be used, with the reason.
    Unusable(&'c str),
    /// No tool.
    Unknown,
}

/// Tools by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Vec<ToolSignature>,
    by_name: HashMap<String, usize>,
    /// Tools of servers, by their name without the server.
    by_bare: HashMap<String, Vec<usize>>,
    servers: HashSet<String>,
    /// Servers whose tools are not listed.
    unlisted: HashSet<String>,
    /// The names of tools that programs may not call, with and without their server.
    withheld: HashMap<String, String>,
    /// Why tools cannot be used, by their names with and without their server.
    unusable: HashMap<String, String>,
    /// Why no tool of a server can be used.
    off: HashMap<String, String>,
}

impl Catalog {
    /// Adds a tool. If its name is taken, it returns `false` and changes nothing.
    pub fn insert(&mut self, tool: ToolSignature) -> bool {
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

    /// Adds a server. `listed` says whether the inserted tools are all its tools; otherwise they are unknown.
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

    /// Adds a tool that cannot be used, and why, so that a call of it gets the reason.
    pub fn insert_unusable(&mut self, name: &str, why: &str) {
        for form in [name, bare(name)] {
            self.unusable.entry(form.to_owned()).or_insert_with(|| why.to_owned());
        }
    }

    /// Adds a server of which no tool can be used, and why.
    pub fn insert_off(&mut self, server: &str, why: &str) {
        self.servers.insert(server.to_owned());
        self.off.insert(server.to_owned(), why.to_owned());
    }

    /// All tools, in the order in which they were added.
    pub fn tools(&self) -> &[ToolSignature] {
        &self.tools
    }

    /// Resolves the name of a tool in a program.
    ///
    /// The full name of a tool has priority. A bare name also finds the tool of a server if only one server
    /// has a tool of that name. A tool without a server is found by `mcp://server/tool` if there is no server
    /// of that name.
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        let own = |name: &str| self.by_name.get(name).and_then(|&index| self.tools.get(index));
        if let Some(tool) = own(name) {
            return Lookup::Found(tool);
        }
        let none = || match (self.withheld.get(name), self.unusable.get(name)) {
            (Some(own), _) => Lookup::Withheld(own),
            (None, Some(why)) => Lookup::Unusable(why),
            (None, None) => Lookup::Unknown,
        };
        if let Some((server, tool)) = server_and_tool(name) {
            if self.unlisted.contains(server) {
                return Lookup::Unlisted;
            }
            if let Some(why) = self.off.get(server) {
                return Lookup::Unusable(why);
            }
            let stand_in = own(tool).filter(|_| !self.servers.contains(server));
            return stand_in.map_or_else(none, Lookup::Found);
        }
        let several: Vec<&ToolSignature> =
            self.by_bare.get(name).into_iter().flatten().filter_map(|&index| self.tools.get(index)).collect();
        match several[..] {
            [] => none(),
            [tool] => Lookup::Found(tool),
            _ => Lookup::Ambiguous(several),
        }
    }

    /// The number of servers; one may count twice.
    pub(crate) fn server_count(&self) -> usize {
        self.servers.len() + self.unlisted.len()
    }

    /// The names of all servers, in order.
    pub(crate) fn servers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.servers.iter().chain(&self.unlisted).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names to suggest in place of a name: with their server if the name has one, otherwise also
    /// without.
    pub fn names_like<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c str> {
        let with_server = is_address(name);
        self.tools.iter().flat_map(move |tool| {
            let short = bare(&tool.name);
            let also = (!with_server && short.len() != tool.name.len()).then_some(short);
            core::iter::once(tool.name.as_str()).chain(also)
        })
    }
}

/// Why a text could not be read as a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// It is not JSON.
    Json(String),
    /// It is neither a list of tools nor a record with one.
    NoTools,
    /// It has the locations of tools, like a host's tools file, and not their signatures.
    ToolsFile,
    /// An entry is not a tool.
    Tool {
        /// Its index in the list.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// An entry has the name of an earlier entry.
    Duplicate {
        /// Its index in the list.
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

/// A text in JSON without the byte order mark that some editors put before it.
fn unmarked(json: &str) -> &str {
    json.strip_prefix('\u{feff}').unwrap_or(json)
}
