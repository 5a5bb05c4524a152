//! Lock files: the definitions of tools at the time at which somebody accepted them, and what has changed
//! since.
//!
//! The lock holds the name, description and schemas of each tool. For a tool of a server these are what the
//! server lists, also if the tools file gives the tool another name. The file holds the definitions
//! themselves so that people can read a change of it, and a hash of each. It cannot detect that a tool
//! behaves differently.

mod changes;
mod lock_file;

use crate::file;
use crate::tool::secrets::hide_of_all;
use crate::tools::{Source, Tool, Tools};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::data::write::hex;
use ilo_drive::problem::{MOST, Problem, shortened};
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use lock_file::LockFile;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the format.
const VERSION: i64 = 1;
/// The maximum size of the file in bytes: ten thousand tools with long schemas.
const FILE: usize = 64 << 20;
/// The maximum nesting of the file: that of a schema, and of what contains it.
const DEPTH: usize = ilo_spec::limits::VALUE_DEPTH + 4;

/// Definitions of tools by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    tools: BTreeMap<String, Data>,
}

/// The result of comparing tools with a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// All are as accepted.
    Same,
    /// The file was written: the number of tools, and the changes of those that were in the file before.
    Written(usize, Vec<String>),
}

impl Lock {
    /// The current definitions of these tools.
    pub fn of<'n>(tools: &Tools, names: impl IntoIterator<Item = &'n str>) -> Lock {
        let found = names.into_iter().filter_map(|name| tools.get(name));
        let own = found.map(|tool| match &tool.source {
            Source::Server(target) => tools.get(target).unwrap_or(tool),
            _ => tool,
        });
        // A server may list what it was started with.
        let written = own.map(|tool| {
            let mut definition = definition(tool);
            hide_of_all(&mut definition);
            (tool.name.clone(), definition)
        });
        Lock { tools: written.collect() }
    }

    /// Compares these definitions with those in a file. If there is no file, it is written. Different
    /// definitions are an error; with `update` they replace those in the file. Other tools in the file are
    /// kept, also those that another process writes at the same time.
    ///
    /// # Errors
    /// Each tool that has changed or is new, with what has changed and how to accept it; a file that cannot
    /// be used.
    pub fn hold(mut self, path: &Path, update: bool) -> Result<Held, Vec<Problem>> {
        let one = |problem| vec![problem];
        let place = LockFile::of(path).map_err(one)?;
        // If nothing is to be written, there is no need to wait.
        if self.changed_since(&place).map_err(one)?.is_some_and(|changed| changed.is_empty()) {
            return Ok(Held::Same);
        }
        let _turn = place.turn().map_err(one)?;
        let count = self.tools.len();
        let Some(old) = Lock::read(&place).map_err(one)? else {
            place.write(&self.to_json()).map_err(one)?;
            return Ok(Held::Written(count, Vec::new()));
        };
        let changed = self.changed(&old);
        if changed.is_empty() {
            return Ok(Held::Same);
        }
        if !update {
            return Err(refused(&changed, path));
        }
        let told: Vec<String> =
            changed.iter().map(|(name, what)| format!("tool `{}`: {what}", shortened(name, 200))).collect();
        for (name, definition) in old.tools {
            self.tools.entry(name).or_insert(definition);
        }
        place.write(&self.to_json()).map_err(one)?;
        Ok(Held::Written(told.len(), told))
    }

    /// The definitions that `hold` would reject; nothing is written.
    pub fn problems(&self, path: &Path) -> Vec<Problem> {
        let changed = LockFile::of(path).and_then(|place| self.changed_since(&place));
        changed.map_or_else(
            |problem| vec![problem],
            |changed| changed.map_or_else(Vec::new, |changed| refused(&changed, path)),
        )
    }

    /// What has changed relative to the file; nothing if there is no file.
    fn changed_since(&self, place: &LockFile) -> Result<Option<Changed>, Problem> {
        Ok(Lock::read(place)?.map(|old| self.changed(&old)))
    }

    fn changed(&self, old: &Lock) -> Changed {
        let what = |(name, now): (&String, &Data)| match old.tools.get(name) {
            Some(then) if then == now => None,
            Some(then) => Some((name.clone(), changes::told(then, now))),
            None => Some((name.clone(), "it is not in the lock".to_owned())),
        };
        self.tools.iter().filter_map(what).collect()
    }

    /// Reads a file; `None` if there is none.
    fn read(place: &LockFile) -> Result<Option<Lock>, Problem> {
        let Some(bytes) = place.read(FILE)? else { return Ok(None) };
        let bad = |message: String| place.problem(message);
        let bounds = Bounds { bytes: FILE, depth: DEPTH, values: usize::MAX };
        let data =
            read(file::without_mark(&bytes), &bounds).map_err(|error| bad(format!("no lock: {error}")))?;
        let version = data.get("version");
        if version != Some(&Data::Number(Number::Int(VERSION))) {
            let found = version.map_or_else(|| "none".to_owned(), |found| shortened(&found.to_json(), 40));
            return Err(bad(format!("no lock: expected the version {VERSION}, found {found}")));
        }
        let Some(Data::Record(tools)) = data.get("tools") else {
            return Err(bad("no lock: expected a record `tools`".to_owned()));
        };
        let mut lock = Lock::default();
        for (name, pinned) in tools {
            let Data::Record(fields) = pinned else {
                return Err(bad(format!("no lock: the tool `{}` is not a record", shortened(name, 200))));
            };
            let (hash, definition): (Vec<_>, Vec<_>) =
                fields.iter().cloned().partition(|(key, _)| key == "hash");
            let definition = sorted(&Data::Record(definition.into()));
            let given = hash.first().map(|(_, hash)| hash);
            if given != Some(&Data::Text(self::hash(name, &definition))) {
                let name = shortened(name, 200);
                let why = format!(
                    "the definition of the tool `{name}` and its hash do not go together; take the entry out, and \
                     accept the tool with `--update`"
                );
                return Err(bad(why));
            }
            lock.tools.insert(name.clone(), definition);
        }
        Ok(Some(lock))
    }

    fn to_json(&self) -> String {
        let pinned = self.tools.iter().map(|(name, definition)| {
            let mut fields = vec![("hash".to_owned(), Data::Text(hash(name, definition)))];
            if let Data::Record(definition) = definition {
                fields.extend(definition.iter().cloned());
            }
            (name.clone(), Data::Record(fields.into()))
        });
        let version = Data::Number(Number::Int(VERSION));
        let file = Data::record([("version", version), ("tools", Data::Record(pinned.collect()))]);
        let mut text = file.to_json_indented();
        text.push('\n');
        text
    }
}

/// What has changed, by tool.
type Changed = Vec<(String, String)>;

/// Changes as problems.
fn refused(changed: &Changed, path: &Path) -> Vec<Problem> {
    let problem = |(name, what): &(String, String)| {
        let name = shortened(name, 200);
        let message = format!("tool `{name}`: {what}; `--update` accepts it as it is now");
        Problem::new(Code::ChangedTool, path.display().to_string(), message)
    };
    changed.iter().take(MOST).map(problem).collect()
}

/// The locked definition of a tool.
fn definition(tool: &Tool) -> Data {
    let fields = [
        ("description", tool.description.as_deref().map(Data::from)),
        ("input_schema", tool.input_schema.as_deref().cloned()),
        ("output_schema", tool.output_schema.as_deref().cloned()),
    ];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    sorted(&Data::Record(given.collect()))
}

/// A copy with the fields of all records and the names under `required` sorted, because servers list them in
/// any order.
fn sorted(data: &Data) -> Data {
    match data {
        Data::Record(fields) => {
            let mut fields: Vec<(String, Data)> = fields
                .iter()
                .map(|(name, value)| {
                    let mut value = sorted(value);
                    if let (Data::List(items), "required") = (&mut value, name.as_str()) {
                        items.sort_by_cached_key(Data::to_json);
                    }
                    (name.clone(), value)
                })
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Data::Record(fields.into())
        }
        Data::List(items) => Data::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// The hash of a definition, including the name of the tool.
fn hash(name: &str, definition: &Data) -> String {
    let whole = Data::List(vec![Data::from(name), definition.clone()].into());
    format!("sha256:{}", hex(&Sha256::digest(whole.to_json().as_bytes())))
}
